#include "core/view/comparison_text.hpp"

#include <fmt/format.h>

#include "core/text/percent.hpp"
#include "core/text/table.hpp"
#include "core/units/text.hpp"

namespace lanewise {

std::string comparison_text(Comparison const& comparison) {
  std::string text;
  for (auto const& warning : comparison.warnings) text += "warning: " + warning + "\n";
  Table table({"step", comparison.first_mode + " (1)", comparison.second_mode + " (2)", "error", "verified"});
  auto const row = [](std::string const& name, Seconds a, Seconds b, std::string const& verified) {
    return std::vector<std::string>{name, rounded_text(a), rounded_text(b), percent_text(a / b - 1), verified};
  };
  for (auto const& step : comparison.steps)
    table.add(row(step.transfer, step.first, step.second, step.verified ? (*step.verified ? "yes" : "NO") : "-"));
  table.add(row("makespan", comparison.first_makespan, comparison.second_makespan, ""));
  return text + table.text() + fmt::format("median error {:.1f} %\n", comparison.median_error() * 100);
}

}  // namespace lanewise
