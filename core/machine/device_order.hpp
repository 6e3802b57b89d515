#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// All functions of one kind in the order that people count them: by the number at the end of their name where all names
// differ only in it (gpu0, gpu1, ...), else in file order.
std::vector<PciId> all_in_number_order(Machine const& machine, PciKind kind);

// The number at the end of a function's name when the rest of it is `stem`; nullopt otherwise.
std::optional<int> number_of(Machine const& machine, PciId id, std::string_view stem);

}  // namespace lanewise
