#include "core/view/comparison_text.hpp"

#include <fmt/format.h>

#include "core/text/percent.hpp"
#include "core/text/table.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

// Whether an error is more than the repetitions' noise (95 % interval of the median).
std::string noise_words(std::optional<bool> within_noise) {
  if (!within_noise) return "";
  return *within_noise ? "within its noise" : "beyond its noise";
}

}  // namespace

std::string comparison_text(Comparison const& comparison) {
  std::string text;
  for (auto const& warning : comparison.warnings) text += "warning: " + warning + "\n";
  auto const& makespan = comparison.makespan;
  bool const noisy = makespan.spread.has_value();  // one of the two was measured, by a version that keeps the noise
  std::vector<std::string> header{"step", comparison.first_mode + " (1)", comparison.second_mode + " (2)", "error"};
  if (noisy) header.insert(header.end(), {"noise", "error is"});
  header.emplace_back("verified");
  Table table(header);
  auto const add = [&](StepComparison const& step, std::string const& verified) {
    std::vector<std::string> row{step.transfer, rounded_text(step.first), rounded_text(step.second),
                                 percent_text(step.error())};
    if (noisy) row.insert(row.end(), {step.spread ? percent_text(*step.spread) : "", noise_words(step.within_noise())});
    row.push_back(verified);
    table.add(std::move(row));
  };
  for (auto const& step : comparison.steps) add(step, step.verified ? (*step.verified ? "yes" : "NO") : "-");
  add(makespan, "");
  return text + table.text() + fmt::format("median error {:.1f} %\n", comparison.median_error() * 100);
}

}  // namespace lanewise
