#include "core/view/why_run_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/percent.hpp"
#include "core/text/table.hpp"
#include "core/view/optimality_text.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

// Of longer paths only the last rows are shown; JSON has all.
constexpr std::size_t kMaxRowsShown = 24;

std::string step_text(Step const& step, Machine const& machine) {
  if (step.work > Seconds(0)) return fmt::format("{} on {}", step.transfer, machine.name_of(step.from));
  return fmt::format("{} {} > {}", step.transfer, machine.name_of(step.from), machine.name_of(step.to));
}

std::string waited_text(RunExplanation const& explanation, std::size_t row, Machine const& machine) {
  auto const& entry = explanation.path[row];
  if (entry.waited == WaitedFor::Nothing) return "nothing";
  if (entry.waited == WaitedFor::Engine) return entry.engine;
  auto const& before = explanation.plan.steps[index(explanation.path[row - 1].step)];
  return fmt::format("{}{}", entry.waited == WaitedFor::Turn ? "its turn behind " : "", step_text(before, machine));
}

std::string path_text(RunExplanation const& explanation, Machine const& machine) {
  auto const& path = explanation.path;
  auto const first = path.size() > kMaxRowsShown ? path.size() - kMaxRowsShown : 0;
  Table table({"step", "waited for", "start", "end", "alone", "slowed by"});
  for (auto row = first; row < path.size(); ++row) {
    auto const& entry = path[row];
    auto const longer = (entry.end - entry.start) / std::max(entry.alone, Seconds(1e-12));
    table.add({step_text(explanation.plan.steps[index(entry.step)], machine), waited_text(explanation, row, machine),
               rounded_text(entry.start), rounded_text(entry.end), rounded_text(entry.alone),
               entry.shared.empty() ? "" : fmt::format("{} ({:.2f} x)", entry.shared, longer)});
  }
  auto const earlier = first > 0 ? fmt::format("after {} earlier steps\n", first) : std::string();
  return "Critical path\n" + earlier + table.text();
}

std::string phases_text(std::vector<Phase> const& phases) {
  Table table({"from", "to", "busiest", "kind", "utilisation", "moving", "GPUs computing"});
  for (auto const& phase : phases)
    table.add({rounded_text(phase.start), rounded_text(phase.end), phase.busiest.empty() ? "-" : phase.busiest,
               phase.kind ? std::string(to_string(*phase.kind)) : "",
               phase.busiest.empty() ? "" : fmt::format("{:.0f} %", phase.utilisation * 100),
               phase.busiest.empty() ? "" : rounded_text(phase.rate), fmt::format("{:.1f}", phase.computing)});
  return "What was busiest when\n" + table.text();
}

std::string change_text(double ratio) {
  auto const percent = (ratio - 1) * 100;
  constexpr double kSame = 0.05;
  return percent > -kSame && percent < kSame ? "same" : difference_text(ratio - 1, 1);
}

std::string order_text(UnorderedRuns const& any, Seconds planned) {
  return fmt::format(
      "The same steps in orders that nobody fixes: {} in the mean ({} to {}); the plan's order is {:.2f} x as fast\n",
      rounded_text(any.mean), rounded_text(any.fastest), rounded_text(any.slowest), any.mean / planned);
}

std::string upgrades_text(std::vector<Upgrade> const& upgrades) {
  Table table({"wider", "holds of the bound", "bound", "run"});
  for (auto const& wider : upgrades)
    table.add(
        {wider.what, fmt::format("{:.1f} %", wider.share * 100), change_text(wider.bound), change_text(wider.run)});
  return "What would help: twice as wide, planned and run again\n" + table.text();
}

}  // namespace

std::string why_run_text(RunExplanation const& explanation, Machine const& machine) {
  auto text = fmt::format("{} on {}: {}\n", explanation.trace.mode, machine.name,
                          optimality_text(explanation.trace.makespan, explanation.bound));
  text += collective_text(explanation.plan, explanation.trace.makespan);
  text += "\n" + path_text(explanation, machine);
  text += "\n" + phases_text(explanation.phases);
  if (explanation.unordered) text += "\n" + order_text(*explanation.unordered, explanation.trace.makespan);
  if (explanation.upgrades.empty())
    text += "\nNothing on the machine that could be wider holds it.\n";
  else
    text += "\n" + upgrades_text(explanation.upgrades);
  return text;
}

}  // namespace lanewise
