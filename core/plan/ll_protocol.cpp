#include "core/plan/ll_protocol.hpp"

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>

namespace lanewise {
namespace {

// Sent by one GPU. Beyond it, doubling the bytes costs more than the flags that it saves: about 6 us of an H200's link.
constexpr Bytes kMaxSentByGpu{std::int64_t{1} << 20};

bool is_whole(Bytes bytes) { return bytes.value() % kLLElement.value() == 0; }

bool may_use_ll(Step const& step) {
  bool const local = step.way.mechanism == Mechanism::Local && step.op == Op::Copy;
  bool const by_kernel = (step.way.mechanism == Mechanism::Local || step.way.mechanism == Mechanism::Nvlink ||
                          step.way.mechanism == Mechanism::PcieP2p) &&
                         (step.op == Op::Write || step.op == Op::Read);
  return (local || by_kernel) && step.work == Seconds(0) && step.reads && step.writes && is_whole(step.bytes) &&
         is_whole(step.reads->offset) && is_whole(step.writes->offset);
}

// Any two ranges of which one is written are the same or disjoint.
bool are_same_or_disjoint(std::span<Step const> steps) {
  std::map<ElementRange, bool> written;  // for each range that a step touches
  for (auto const& step : steps) {
    written[{step.reads->buffer, step.reads->offset, step.bytes}];
    written[{step.writes->buffer, step.writes->offset, step.bytes}] = true;
  }
  for (auto a = written.begin(); a != written.end(); ++a)
    for (auto b = std::next(a);
         b != written.end() && b->first.buffer == a->first.buffer && b->first.offset < a->first.offset + a->first.bytes;
         ++b)
      if (a->second || b->second) return false;
  return true;
}

}  // namespace

bool uses_ll_protocol(std::span<Step const> steps) {
  std::map<Place, Bytes> sent;
  std::map<Place, std::size_t> count;
  bool const are_few = std::all_of(steps.begin(), steps.end(), [&](Step const& step) {
    if (!may_use_ll(step) || ++count[step.from] > kMaxLLSteps) return false;
    if (step.from == step.to) return true;
    return ++count[step.to] <= kMaxLLSteps && (sent[step.from] += step.bytes) <= kMaxSentByGpu;
  });
  return are_few && are_same_or_disjoint(steps);
}

}  // namespace lanewise
