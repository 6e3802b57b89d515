// Plans a scenario, simulates the plan and prints its trace.
//   simulate_scenario SCENARIO MACHINE
#include <algorithm>
#include <cstdio>
#include <exception>

#include "lanewise/io/bundled.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/scenario/scenario.hpp"
#include "lanewise/sim/simgrid_executor.hpp"

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s SCENARIO MACHINE\n", argv[0]);
    return 2;
  }
  lanewise::Catalogue catalogue(lanewise::topology_folders());
  auto const scenario = read_scenario(lanewise::SourceText::load(lanewise::scenario_file(argv[1])));
  lanewise::Model const model(catalogue.machine(argv[2]));

  auto const plan = plan_of(scenario, model, {.objective = scenario.objective});
  auto const trace = lanewise::sim::SimGridExecutor(model).run(plan);

  for (auto const& step : trace.steps)
    std::printf("%-12s %s to %s: %s\n", step.transfer.c_str(), rounded_text(step.start).c_str(),
                rounded_text(step.end).c_str(), rounded_text(step.rate()).c_str());
  std::printf("all done after %s; the busiest resources:\n", rounded_text(trace.makespan).c_str());
  for (std::size_t i = 0; i < std::min<std::size_t>(trace.resources.size(), 3); ++i)
    std::printf("  %3.0f %% %s\n", 100 * trace.resources[i].utilisation, trace.resources[i].name.c_str());
} catch (std::exception const& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 2;
}
