#pragma once
#include "lanewise/io/error.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

// The value of what a user wrote; throws InputError with the parser's reason when there is none.
template <class T>
T argument(Parsed<T> parsed) {
  if (!parsed.value) throw InputError(parsed.problem);
  return *parsed.value;
}

}  // namespace lanewise
