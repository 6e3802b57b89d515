#include "lanewise/planner/aim.hpp"

#include <array>

#include "core/io/word.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 3> kObjectiveNames{"each", "makespan", "slowdown"};
constexpr std::array<std::string_view, 2> kEffortNames{"quick", "full"};

}  // namespace

std::string_view to_string(Objective objective) { return kObjectiveNames[static_cast<std::size_t>(objective)]; }
std::vector<std::string> objective_names() { return {kObjectiveNames.begin(), kObjectiveNames.end()}; }
Parsed<Objective> parse_objective(std::string_view text) {
  return parse_word<Objective>(text, kObjectiveNames, "an objective");
}

std::string_view to_string(Effort effort) { return kEffortNames[static_cast<std::size_t>(effort)]; }
Parsed<Effort> parse_effort(std::string_view text) { return parse_word<Effort>(text, kEffortNames, "an effort"); }

}  // namespace lanewise
