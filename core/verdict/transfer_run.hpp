#pragma once
#include <algorithm>

#include "lanewise/plan/plan.hpp"
#include "lanewise/plan/trace.hpp"

namespace lanewise {

// A transfer's run as one step: from the start of its first piece to the end of its last.
inline StepTrace transfer_run(Decision const& decision, Trace const& trace) {
  auto whole = trace.steps[index(decision.step)];
  for (auto const& piece : decision.others) {
    auto const& part = trace.steps[index(piece.step)];
    whole.start = std::min(whole.start, part.start);
    whole.end = std::max(whole.end, part.end);
    whole.bytes += part.bytes;
    whole.noise.reset();  // of one piece only
    if (part.spread) whole.spread = std::max(whole.spread.value_or(0), *part.spread);
    if (part.verified) whole.verified = whole.verified.value_or(true) && *part.verified;
  }
  return whole;
}

}  // namespace lanewise
