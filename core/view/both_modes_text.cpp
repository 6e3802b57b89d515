#include "core/view/both_modes_text.hpp"

#include <fmt/format.h>

#include "core/units/statistics.hpp"
#include "core/view/comparison_text.hpp"

namespace lanewise {

std::string both_modes_text(std::vector<BothModes> const& runs) {
  std::string text;
  for (auto const& run : runs) {
    text += fmt::format("{} on {}{}\n{}", run.scenario, run.machine,
                        run.variant.empty() ? "" : fmt::format(" ({})", run.variant), comparison_text(run.comparison));
    for (auto const& line : run.different) text += "  " + line + "\n";
    if (!run.timing_exclusion.empty()) text += fmt::format("these times are not judged ({})\n", run.timing_exclusion);
    text += "\n";
  }
  auto const summary = summarise(runs);
  if (runs.empty()) return text + "nothing ran in both modes\n";
  if (summary.errors.empty())
    return text + fmt::format("{} runs in both modes, none judged by its times\n", runs.size());
  return text + fmt::format(
                    "{} steps: median error {:.1f} %, p95 {:.1f} %; of {} decisions both modes prefer the same way in "
                    "{}, {} are within the noise, regret on hardware of the other {} at most {:.1f} %\n",
                    summary.errors.size(), median(summary.errors) * 100, quantile(summary.errors, 0.95) * 100,
                    summary.decisions, summary.equal_decisions, summary.within_noise,
                    summary.decisions - summary.equal_decisions - summary.within_noise, summary.worst_regret * 100);
}

}  // namespace lanewise
