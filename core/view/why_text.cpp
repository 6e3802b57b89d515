#include "core/view/why_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/table.hpp"
#include "core/view/plan_text.hpp"
#include "lanewise/rules/rule.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

std::string verdict(Candidate const& candidate, bool chosen) {
  if (!candidate.legal()) return "refused: " + candidate.refused_by;
  if (!candidate.time) return chosen ? "chosen (cost unknown)" : "legal (cost unknown)";
  return chosen ? "chosen" : "legal";
}

std::string rules_text(ChoiceExplanation const& explanation) {
  std::string text;
  for (auto const* rule : rules_named(explanation))
    text += fmt::format("  {}: {} [{}]\n", rule->id, rule->sentence, rule->source);
  return text;
}

std::string routes(ChoiceExplanation const& explanation, Machine const& machine) {
  std::string text;
  for (std::size_t i = 0; i < explanation.candidates.size(); ++i) {
    auto const& candidate = explanation.candidates[i];
    if (candidate.route.empty()) continue;
    text += fmt::format("{} {}: {}\n", explanation.chosen == i ? "*" : " ", text_of(candidate.way, machine),
                        fmt::join(candidate.route, " > "));
    if (candidate.once) text += fmt::format("      {} once, before the first\n", rounded_text(*candidate.once));
    if (candidate.rendezvous)
      text += fmt::format("      two-sided messages: copied eagerly below {} KiB, by rendezvous above\n",
                          std::max<std::int64_t>(candidate.rendezvous->value() / 1024, 1));
    if (!candidate.remarks.empty()) text += fmt::format("      {}\n", fmt::join(candidate.remarks, ", "));
    if (!candidate.reason.empty()) text += fmt::format("      {}\n", candidate.reason);
  }
  return text;
}

}  // namespace

std::string why_text(ChoiceExplanation const& explanation, Machine const& machine) {
  auto const& request = explanation.request;
  auto text =
      fmt::format("{} to {} on {}: {}, op {} ({})\n\n", machine.name_of(request.from), machine.name_of(request.to),
                  machine.name, exact_text(request.bytes), to_string(request.op), explanation.distance);
  Table table({"", "way", "verdict", "time", "90 % range", "latency", "bandwidth", "bound by"});
  for (std::size_t i = 0; i < explanation.candidates.size(); ++i) {
    auto const& c = explanation.candidates[i];
    bool const chosen = explanation.chosen == i;
    table.add({chosen ? "*" : "", text_of(c.way, machine), verdict(c, chosen), c.time ? rounded_text(*c.time) : "",
               range_text(c.range), c.latency ? rounded_text(*c.latency) : "",
               c.time ? rounded_text(request.bytes / *c.time) : "", c.binding});
  }
  text += table.text();
  if (!explanation.chosen) text += "\nNothing is legal.\n";
  auto const ways = routes(explanation, machine);
  if (!ways.empty()) text += "\nRoutes\n" + ways;
  auto const rules = rules_text(explanation);
  if (!rules.empty()) text += "\nRules\n" + rules;
  return text;
}

}  // namespace lanewise
