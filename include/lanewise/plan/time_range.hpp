#pragma once
#include "lanewise/units/quantity.hpp"

namespace lanewise {

// An interval of times. As a range of a prediction, nine of ten measurements lie in it.
struct TimeRange {
  Seconds low{0};
  Seconds high{0};
  friend bool operator==(TimeRange const&, TimeRange const&) = default;
};

}  // namespace lanewise
