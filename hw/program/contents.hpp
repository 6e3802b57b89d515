#pragma once
// What the shared buffers of collectives hold before a run and must hold after it.
#include <vector>

#include "lanewise/plan/plan.hpp"

namespace lanewise::hw {

// The range [at, at + bytes) of a buffer is the sum, in 32-bit elements that wrap around, of what participants
// [first, first + count) of its collective have at offset `from` of their data.
struct Content {
  Bytes at{0}, bytes{0};
  Bytes from{0};
  std::size_t first = 0, count = 1;
  friend bool operator==(Content const&, Content const&) = default;
};
using Contents = std::vector<std::vector<Content>>;  // by buffer of the plan

// Bytes that no Content names may hold anything. Both throw PlanError for a plan without a collective.
Contents initial_contents(Plan const& plan);
Contents expected_contents(Plan const& plan);

}  // namespace lanewise::hw
