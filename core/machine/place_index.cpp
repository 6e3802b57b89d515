#include "core/machine/place_index.hpp"

namespace lanewise {

PlaceIndex::PlaceIndex(Machine const& machine) : machine_(machine) {
  for (std::size_t i = 0; i < machine.functions.size(); ++i) functions_.emplace(machine.functions[i].name, PciId(i));
}

std::optional<PciId> PlaceIndex::find_function(std::string_view name) const {
  auto const found = functions_.find(name);
  return found != functions_.end() ? std::optional(found->second) : std::nullopt;
}

Place PlaceIndex::place(std::string_view name) const {
  if (auto const id = find_function(name)) {
    auto const kind = machine_.at(*id).kind;
    if (kind != PciKind::RootPort && kind != PciKind::Switch) return *id;
  }
  return machine_.place(name);  // host memory, or an error that lists what there is
}

}  // namespace lanewise
