#pragma once
// The value of one setting, and what to say when it does not fit.
#include <string>
#include <string_view>

#include "lanewise/io/error.hpp"
#include "lanewise/machine/setting.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

// "acs=on", as --set takes it.
std::string text_of(Setting const& setting);

[[noreturn]] void refuse(Setting const& setting, std::string_view why);

template <class T>
T value_of(Setting const& setting, Parsed<T> parsed) {
  if (!parsed.value) refuse(setting, parsed.problem);
  return *parsed.value;
}

// true, on, yes or false, off, no. Throws InputError.
bool flag_of(Setting const& setting);
// A whole number from `least` to `most`. Throws InputError.
int count_of(Setting const& setting, int most, int least = 0);

}  // namespace lanewise
