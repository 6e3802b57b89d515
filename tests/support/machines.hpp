#pragma once
// Machines written where the test stands, and their places by name.
#include <string>

#include "core/io/file.hpp"
#include "core/machine/catalogue.hpp"
#include "core/machine/machine.hpp"

namespace lanewise::test {

// A machine that brings its own parts, or a cluster of such.
inline Machine machine_from(std::string const& text) {
  return Catalogue({}).machine_from(SourceText::from_memory("test.yaml", text));
}

inline PciId pci(Machine const& machine, std::string const& name) { return machine.find_function(name).value(); }
inline NumaId numa(Machine const& machine, std::string const& name) { return std::get<NumaId>(machine.place(name)); }

// The part of this name, to be changed.
inline Part& part(Machine& machine, std::string const& name) {
  for (auto& known : machine.parts)
    if (known.name == name) return known;
  throw InputError("no part " + name);
}

}  // namespace lanewise::test
