#pragma once
#include <optional>
#include <string_view>
#include <unordered_map>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The functions and places of a machine by name, for who asks for many: a machine itself looks through all of them.
class PlaceIndex {
 public:
  // `machine` must outlive the index, and keep its functions and memories.
  explicit PlaceIndex(Machine const& machine);
  [[nodiscard]] Machine const& machine() const { return machine_; }
  // As Machine has them.
  [[nodiscard]] std::optional<PciId> find_function(std::string_view name) const;
  [[nodiscard]] Place place(std::string_view name) const;

 private:
  Machine const& machine_;
  std::unordered_map<std::string_view, PciId> functions_;
};

}  // namespace lanewise
