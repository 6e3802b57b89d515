// Fuzzes what comes after reading: valid machines and scenarios at random, planned and simulated. The properties: no
// crash, only errors that say why; no resource carries more than its capacity; what leaves arrives; no run is faster
// than the lower bound; and the planner's estimate is what the simulator finds, within 2 %.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include "fuzz/random_machine.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"
#include "lanewise/scenario/scenario.hpp"
#include "lanewise/sim/simgrid_executor.hpp"

namespace lanewise {
namespace {

constexpr double kRounding = 1e-6;
constexpr double kMaxDifference = 0.02;  // between estimate and simulation

void require(bool holds, std::string const& what) {
  if (!holds) throw std::logic_error(what);
}

void check_capacities(Model const& model, Trace const& trace) {
  std::map<std::string, double> capacity;
  for (std::size_t i = 0; i < model.resources().count(); ++i)
    if (auto const rate = model.capacity(ResourceId(i)))
      capacity[model.resources().at(ResourceId(i)).name] = rate->value();
  for (auto const& resource : trace.resources) {
    auto const known = capacity.find(resource.name);
    if (known == capacity.end()) continue;  // a limit of one machine's quirk
    auto const most = known->second * trace.makespan.value();
    require(resource.bytes <= most * (1 + kRounding) + 1,
            fmt::format("'{}' carries {} bytes, and can carry {}", resource.name, resource.bytes, most));
  }
}

void check_bytes(Scenario const& scenario, Plan const& plan, Trace const& trace) {
  std::map<std::string, std::int64_t> moved;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    require(trace.steps[i].bytes == plan.steps[i].bytes, "a step moves other bytes than planned");
    require(trace.steps[i].end >= trace.steps[i].start && trace.steps[i].end <= trace.makespan * (1 + kRounding),
            "a step ends before it begins, or after the run");
    for (auto const before : plan.steps[i].after)
      require(trace.steps[i].start >= trace.steps[index(before)].end * (1 - kRounding),
              "a step begins before what it waits for");
    moved[plan.steps[i].transfer] += plan.steps[i].bytes.value();
  }
  for (auto const& transfer : scenario.transfers)
    require(moved[transfer.id] == transfer.bytes.value(),
            fmt::format("{} of {} bytes of '{}' arrive", moved[transfer.id], transfer.bytes.value(), transfer.id));
}

void plan_and_run(RandomFiles& files) {
  static Catalogue catalogue({});
  auto const made = files.machine();
  auto const text = files.scenario(made);
  Model const model(catalogue.machine_from(SourceText::from_memory("machine.yaml", made.text)));
  auto const scenario = read_scenario(SourceText::from_memory("scenario.yaml", text));
  auto const plan = plan_of(scenario, model, {scenario.objective, Effort::Quick});
  plan.verify(model.machine());
  sim::SimGridExecutor executor(model);
  auto const trace = executor.run(plan);
  auto const guess = estimate(model, plan.steps, plan.folding).makespan;
  auto const where = "\n" + made.text + text;
  require(std::abs(guess.value() - trace.makespan.value()) <= kMaxDifference * trace.makespan.value() + 1e-9,
          fmt::format("estimated {} s, simulated {} s{}", guess.value(), trace.makespan.value(), where));
  if (auto const bound = lower_bound(plan, model))
    require(trace.makespan >= bound->makespan * (1 - kRounding),
            fmt::format("runs {} s, and nothing is faster than {} s{}", trace.makespan.value(), bound->makespan.value(),
                        where));
  check_capacities(model, trace);
  check_bytes(scenario, plan, trace);
}

}  // namespace
}  // namespace lanewise

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  lanewise::RandomFiles files(data, size);
  try {
    lanewise::plan_and_run(files);
  } catch (lanewise::Error const&) {  // two equal places, a figure that is unknown, no legal way
  }
  return 0;
}
