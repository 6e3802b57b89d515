#include "core/planner/bounds/stages.hpp"

#include <algorithm>
#include <utility>

#include "core/plan/dag.hpp"

namespace lanewise {
namespace {

// The number of each stage's first transfer; then the number of transfers.
std::vector<std::size_t> stage_starts(std::vector<OpenTransfer> const& transfers) {
  auto const count = transfers.size();
  for (std::size_t i = 0; i < count; ++i)
    for (auto const other : transfers[i].after)
      if (other >= i) return {0, count};
  Ancestors const ancestors(dag_of_after(transfers));
  std::vector<std::size_t> complete(count, 0);  // transfer i waits for all of the first complete[i]
  for (std::size_t i = 0; i < count; ++i)
    while (complete[i] < i && ancestors.has(i, complete[i])) ++complete[i];
  std::vector<std::size_t> starts{count};
  auto least = count;
  for (auto i = count; i-- > 1;) {
    least = std::min(least, complete[i]);
    if (least >= i) starts.push_back(i);
  }
  starts.push_back(0);
  std::reverse(starts.begin(), starts.end());
  return starts;
}

}  // namespace

std::vector<std::vector<OpenTransfer>> divide_into_stages(std::vector<OpenTransfer> const& transfers) {
  auto const starts = stage_starts(transfers);
  std::vector<std::vector<OpenTransfer>> stages;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    auto const first = starts[s];
    auto& stage = stages.emplace_back(transfers.begin() + static_cast<std::ptrdiff_t>(first),
                                      transfers.begin() + static_cast<std::ptrdiff_t>(starts[s + 1]));
    for (auto& transfer : stage) {
      std::erase_if(transfer.after, [&](std::size_t before) { return before < first; });
      for (auto& before : transfer.after) before -= first;
    }
  }
  return stages;
}

Precedence precedence_of(std::vector<OpenTransfer> const& transfers, std::vector<double> const& times) {
  auto paths = longest_paths(dag_of_after(transfers), times);
  Precedence result{std::move(paths.head), std::move(paths.tail), 0, {}};
  auto const end = [&](std::size_t i) { return result.head[i] + times[i]; };
  std::size_t last = 0;
  for (std::size_t i = 0; i < transfers.size(); ++i)
    if (end(i) > end(last)) last = i;
  result.longest = end(last);
  for (auto at = last;;) {
    result.chain.push_back(at);
    auto const& after = transfers[at].after;
    auto const before =
        std::max_element(after.begin(), after.end(), [&](std::size_t a, std::size_t b) { return end(a) < end(b); });
    if (before == after.end()) break;
    at = *before;
  }
  return result;
}

}  // namespace lanewise
