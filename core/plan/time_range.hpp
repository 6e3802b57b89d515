#pragma once
#include "core/units/quantity.hpp"

namespace lanewise {

// From and to: nine measurements out of ten lie between.
struct TimeRange {
  Seconds low{0};
  Seconds high{0};
  friend bool operator==(TimeRange const&, TimeRange const&) = default;
};

}  // namespace lanewise
