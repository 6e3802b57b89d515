#pragma once
#include "core/units/quantity.hpp"

namespace lanewise {

// Nine of ten measurements lie in it.
struct TimeRange {
  Seconds low{0};
  Seconds high{0};
  friend bool operator==(TimeRange const&, TimeRange const&) = default;
};

}  // namespace lanewise
