// Reads a bundled machine through the installed library and says how many GPUs it has.
#include <cstddef>
#include <iostream>

#include "core/machine/catalogue.hpp"
#include "core/machine/machine.hpp"

int main() {
  lanewise::Catalogue catalogue({TOPOLOGIES});
  std::cout << catalogue.machine("dgx-a100").all(lanewise::PciKind::Gpu).size() << " GPUs\n";
}
