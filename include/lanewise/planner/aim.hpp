#pragma once
// What planning a set of transfers minimises, and how much time it may spend on it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/planner/libraries/library_name.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

enum class Objective : std::uint8_t {
  Each,      // the best way of every transfer by itself; all begin in the order given
  Makespan,  // the time at which the last transfer ends
  Slowdown,  // the largest ratio of a transfer's time in the set to its time alone
};
std::string_view to_string(Objective objective);
std::vector<std::string> objective_names();
Parsed<Objective> parse_objective(std::string_view text);

enum class Effort : std::uint8_t {
  Quick,  // only the cheapest drafts: 56 transfers in about two milliseconds on any machine
  Full,   // also costly drafts, while there is much to gain
};
std::string_view to_string(Effort effort);
Parsed<Effort> parse_effort(std::string_view text);

// How the plan of a collective is written down.
enum class Detail : std::uint8_t {
  Folded,     // where many nodes are alike and do the same, what one of them does: see Folding in plan.hpp
  EveryStep,  // as hardware runs it
};

struct Aim {
  Objective objective = Objective::Makespan;
  Effort effort = Effort::Full;
  Detail detail = Detail::Folded;
  std::optional<Library> library = {};  // plan collectives as this library would, instead of as well as possible
};

}  // namespace lanewise
