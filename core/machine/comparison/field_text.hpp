#pragma once
// What comparisons of machines print of a key.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

constexpr auto kAbsent = "absent";

// What a field says, as one text; empty: nothing.
template <class Fields, class Object>
std::string said(Fields const& field, Object const& object) {
  auto const texts = field.write(object);
  return fmt::format("{}", fmt::join(texts, ", "));
}

inline std::string known(AcsControl control) { return control.known ? to_string(control) : std::string(); }

}  // namespace lanewise
