#include "core/estimate/flow_hashes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/estimate/demands.hpp"
#include "core/estimate/schedule.hpp"
#include "core/io/json.hpp"
#include "lanewise/estimate/estimate.hpp"

namespace lanewise {
namespace {

// Of 51 the third from each end bounds 90 %. Large plans, which take long and of which each has many flows, try fewer.
constexpr std::size_t kHashes = 51;
constexpr std::size_t kHashesOfLargePlans = 11;
constexpr std::size_t kLargePlan = 4'000;

bool is_hashed(Model const& model, Plan const& plan) {
  auto const& fabric = model.machine().fabric;
  if (!fabric || model.assumed().hash_seed()) return false;
  return std::any_of(plan.steps.begin(), plan.steps.end(), [&](Step const& step) {
    if (!step.way.nic_from || !step.way.nic_to) return false;
    auto const cables = fabric->attachments_of(*step.way.nic_from);
    return !cables.empty() && fabric->network_of(cables.front().at).routing == Routing::Ecmp;
  });
}

}  // namespace

void FlowHashes::note_in(Trace& trace) const {
  trace.environment["flow hash"] = fmt::format("number {}, the median of {}", seed, tried);
  auto const scale = middle > Seconds(0) ? trace.makespan.value() / middle.value() : 1;
  trace.range = TimeRange{through_json(range.low * scale), through_json(range.high * scale)};
}

void note_mean_of_hashes(Trace& trace, Model const& model, Plan const& plan) {
  if (!plan.folding.empty() && is_hashed(model, plan)) trace.environment["flow hash"] = kMeanOfHashes;
}

std::optional<FlowHashes> flow_hashes(Model const& model, Plan const& plan) {
  if (!plan.folding.empty() || !is_hashed(model, plan)) return std::nullopt;
  auto const count = plan.steps.size() > kLargePlan ? kHashesOfLargePlans : kHashes;
  std::vector<std::pair<Seconds, std::uint32_t>> makespans;
  for (std::uint32_t seed = 0; seed < count; ++seed) {
    auto const hashed = model.with_assumptions(model.assumed().hashed_with(seed));
    makespans.emplace_back(estimate(hashed, plan.steps, demands_of(hashed, plan.steps)).makespan, seed);
  }
  std::sort(makespans.begin(), makespans.end());
  auto const cut = static_cast<std::size_t>(std::floor(0.05 * static_cast<double>(count)));
  auto const& median = makespans[count / 2];
  return FlowHashes{model.with_assumptions(model.assumed().hashed_with(median.second)),
                    median.second,
                    static_cast<int>(count),
                    {makespans[cut].first, makespans[count - 1 - cut].first},
                    median.first};
}

}  // namespace lanewise
