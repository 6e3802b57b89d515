#pragma once
// Machines from YAML in the test, and their functions and memories by name.
#include <string>

#include "lanewise/io/file.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::test {

// Reads a machine file that describes its own parts, or a cluster file.
inline Machine machine_from(std::string const& text) {
  return Catalogue({}).machine_from(SourceText::from_memory("test.yaml", text));
}

inline PciId pci(Machine const& machine, std::string const& name) { return machine.find_function(name).value(); }
inline NumaId numa(Machine const& machine, std::string const& name) { return std::get<NumaId>(machine.place(name)); }

// The part of this name, for changes. Throws InputError when there is none.
inline Part& part(Machine& machine, std::string const& name) {
  for (auto& known : machine.parts)
    if (known.name == name) return known;
  throw InputError("no part " + name);
}

}  // namespace lanewise::test
