#pragma once
// Shared by the tests of importers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lanewise/machine/machine_file.hpp"

namespace lanewise {

inline Catalogue bundled() { return Catalogue({LANEWISE_SOURCE_DIR "/topologies"}); }

// Expects that a machine file written from an importer's machine reads back equal.
inline void expect_reads_back(Machine const& machine, Catalogue& catalogue) {
  auto const yaml = write_machine(machine);
  try {
    EXPECT_EQ(catalogue.machine_from(SourceText::from_memory("again.yaml", yaml)), machine) << yaml;
  } catch (Error const& error) {
    FAIL() << error.what() << "\n" << yaml;
  }
}

inline PciFunction const& function(Machine const& machine, std::string const& name) {
  auto const id = machine.find_function(name);
  if (!id) throw InputError("no function " + name + " in\n" + write_machine(machine));
  return machine.at(*id);
}
inline PciId id_of(Machine const& machine, std::string const& name) { return machine.find_function(name).value(); }
inline std::string part_of(Machine const& machine, std::string const& name) {
  auto const& part = function(machine, name).part;
  return part ? machine.at(*part).name : "unknown";
}
inline std::string parent_of(Machine const& machine, std::string const& name) {
  auto const& parent = function(machine, name).parent;
  return parent ? machine.at(*parent).name : "";
}

inline auto has_note(std::string const& text) { return testing::Contains(testing::HasSubstr(text)); }

// The text of the InputError that `call` throws, or "no error".
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (InputError const& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace lanewise
