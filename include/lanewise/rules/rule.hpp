#pragma once
// Legality: may this mechanism move data between these two places? One rule a function, each with an id, a sentence
// and its source. docs/rules.md lists them.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/machine/machine.hpp"
#include "lanewise/rules/mechanism.hpp"

namespace lanewise {

// A transfer and one way to do it, as the rules see it. `way` must fit the places: GPUs at both ends of a mechanism
// between GPUs, and so on.
struct Attempt {
  Machine const& machine;
  Place from, to;
  Op op = Op::Copy;
  Way way;
  Bytes bytes{0};
  int peers_of_source = 0;  // PCIe peers that the plan already maps for the source
  int peers_of_target = 0;  // and for the destination
};

struct Rule {
  std::string_view id;        // "P2P-ACS-REDIRECT"
  std::string_view sentence;  // what it says, for people
  std::string_view source;    // where it is from
  bool refuses = true;        // false: the transfer passes, by another route or at another price
  // Whether the rule applies to the attempt: refuses it, or changes its way.
  bool (*applies)(Attempt const&) = nullptr;
};

// All rules in the order of docs/rules.md. They live as long as the program.
std::span<Rule const> all_rules();
// The rules of a mechanism in the order in which they are asked: the first that refuses decides.
std::span<Rule const* const> rules_of(Mechanism mechanism);
// The first rule that refuses the attempt, or nullptr when it is legal.
Rule const* refusal(Attempt const& attempt);
// The rules that let it pass but change its way.
std::vector<Rule const*> remarks(Attempt const& attempt);
// The rule with this id, or nullptr.
Rule const* find_rule(std::string_view id);

}  // namespace lanewise
