#include "lanewise/explain/order_gain.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace lanewise {
namespace {

constexpr int kSampledOrders = 9;
// Larger sets would take longer to run nine times than all else that is explained.
constexpr std::size_t kLargestSet = 1024;

bool is_set_of_transfers(Plan const& plan) {
  if (plan.collective || !plan.collectives.empty() || plan.steps.size() > kLargestSet) return false;
  return std::all_of(plan.steps.begin(), plan.steps.end(),
                     [](Step const& step) { return step.after.empty() && step.work == Seconds(0); });
}

bool two_share_an_engine(Plan const& plan, Model const& model) {
  std::set<EngineId> held;
  for (auto const& step : plan.steps)
    for (auto const engine : model.lower(step.from, step.to, step.bytes, step.op, step.way).engines)
      if (!held.insert(engine).second) return true;
  return false;
}

}  // namespace

std::optional<UnorderedRuns> run_unordered(Plan const& plan, Model const& model, MakeExecutor const& executor) {
  if (!is_set_of_transfers(plan) || !two_share_an_engine(plan, model)) return std::nullopt;
  auto any = plan;
  any.decisions.clear();  // they name steps by their places
  for (auto& step : any.steps) step.order_only.clear();
  auto const runner = executor(model);
  std::mt19937 random(1);
  std::vector<Seconds> takes;
  for (int i = 0; i < kSampledOrders; ++i) {
    std::shuffle(any.steps.begin(), any.steps.end(), random);
    takes.push_back(runner->run(any).makespan);
  }
  auto const [fastest, slowest] = std::minmax_element(takes.begin(), takes.end());
  return UnorderedRuns{std::accumulate(takes.begin(), takes.end(), Seconds(0)) / static_cast<double>(kSampledOrders),
                       *fastest, *slowest};
}

}  // namespace lanewise
