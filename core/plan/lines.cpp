#include "core/plan/lines.hpp"

#include <algorithm>
#include <map>

namespace lanewise {
namespace {

// Sent by one GPU. Beyond it the doubled bytes cost more than the flags that they save: some 6 us of an H200's link.
constexpr Bytes kMostSent{std::int64_t{1} << 20};

bool is_whole(Bytes bytes) { return bytes.value() % kLineElement.value() == 0; }

bool may_travel(Step const& step) {
  bool const local = step.way.mechanism == Mechanism::Local && step.op == Op::Copy;
  bool const by_kernel = (step.way.mechanism == Mechanism::Local || step.way.mechanism == Mechanism::Nvlink ||
                          step.way.mechanism == Mechanism::PcieP2p) &&
                         (step.op == Op::Write || step.op == Op::Read);
  return (local || by_kernel) && step.work == Seconds(0) && step.reads && step.writes && is_whole(step.bytes) &&
         is_whole(step.reads->offset) && is_whole(step.writes->offset);
}

}  // namespace

bool travel_in_lines(std::span<Step const> steps) {
  std::map<Place, Bytes> sent;
  return std::all_of(steps.begin(), steps.end(), [&](Step const& step) {
    if (!may_travel(step)) return false;
    return step.from == step.to || (sent[step.from] += step.bytes) <= kMostSent;
  });
}

}  // namespace lanewise
