#pragma once
// A schedule of a transfer set: what moves when.
#include <vector>

#include "lanewise/units/quantity.hpp"

namespace lanewise {

struct Schedule {
  struct Moving {
    std::size_t transfer = 0;
    std::size_t option = 0;
    double bytes = 0;  // during the slice
  };
  struct Slice {
    Seconds duration{0};
    std::vector<Moving> moving;
  };
  std::vector<Slice> slices;  // one after another
};

}  // namespace lanewise
