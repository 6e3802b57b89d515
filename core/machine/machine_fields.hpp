#pragma once
// The tables of keys of a machine file that fill plain members. Keys that refer to other things by name (`part`,
// `between`, `from`) are not here: the reader resolves them.
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/field.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

struct SoftwareField : Field<Software> {
  bool Software::*flag = nullptr;  // the member itself, for --set
};

struct FunctionField : Field<PciFunction> {
  std::optional<PciKind> only = {};  // the one kind of function that may have the key; absent: any
};

// Each in the order in which files are written.
std::vector<SoftwareField> const& software_fields();
std::vector<Field<Settings>> const& settings_fields();              // without `virtualization`
std::vector<Field<Virtualization>> const& virtualization_fields();  // without `clique` and `cliques`
std::vector<FunctionField> const& function_fields();
std::vector<Field<NumaNode>> const& numa_fields();
std::vector<Field<Override>> const& override_fields();

// The field of this name. The name must be in the table.
template <class Fields>
auto const& field_named(Fields const& fields, std::string_view name) {
  for (auto const& field : fields)
    if (field.spec.name == name) return field;
  throw std::logic_error("no field is called '" + std::string(name) + "'");
}

}  // namespace lanewise
