#include "core/interop/machines/machine_output.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "lanewise/io/error.hpp"
#include "lanewise/machine/machine_file.hpp"

namespace lanewise {

void check_name(std::string const& name) {
  constexpr auto* kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (name.find_first_not_of(kAllowed) != std::string::npos)
    throw InputError(fmt::format("--name '{}': a machine's name has letters, digits, '_', '-' and '.'", name));
}

std::string checked_yaml(Machine const& machine, Catalogue& catalogue, std::string const& origin) {
  auto yaml = write_machine(machine);
  auto const defect = [&](std::string const& what) {
    return std::logic_error(fmt::format("the machine made of {} {}; please report this", origin, what));
  };
  try {
    if (catalogue.machine_from(SourceText::from_memory(machine.name + ".yaml", yaml)) == machine) return yaml;
  } catch (Error const& error) {
    throw defect(fmt::format("is refused by its own reader: {}", error.what()));
  }
  throw defect("does not read back equal");
}

}  // namespace lanewise
