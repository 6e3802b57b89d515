#pragma once
// A machine as Linux has it in memory: host bridges, root ports, both sides of switches, ACS control registers.
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/machine/machine.hpp"
#include "tests/oracle/linux_stand_ins.h"

namespace lanewise::oracle {

// What Linux knows of a processor: family and vendor of the boot CPU, and the first function on its root buses.
struct LinuxCpu {
  std::string_view part;
  cpuinfo_x86 cpu;
  unsigned short vendor, device;
};
// The processor of a part, or nullptr when it is not in the table.
LinuxCpu const* linux_cpu(std::string_view part);

class LinuxPci {
 public:
  // Throws std::runtime_error when a socket's part is not in the table.
  explicit LinuxPci(Machine const& machine);
  LinuxPci(LinuxPci const&) = delete;
  LinuxPci& operator=(LinuxPci const&) = delete;

  [[nodiscard]] pci_dev* at(PciId id) const { return of_function_[index(id)]; }
  [[nodiscard]] cpuinfo_x86 boot_cpu() const { return boot_cpu_; }

 private:
  pci_dev& add(pci_bus* bus, pci_dev* upstream);
  void add_host_bridge(LinuxCpu const* cpu);
  // Puts a function below the port above it.
  pci_dev& add_function(Machine const& machine, PciId id);

  std::deque<pci_host_bridge> bridges_;  // the addresses of deques' elements stay
  std::deque<pci_bus> buses_;
  std::deque<pci_dev> devices_;
  std::vector<pci_dev*> of_function_;  // of a switch: its upstream port
  cpuinfo_x86 boot_cpu_{0, X86_VENDOR_UNKNOWN};
};

}  // namespace lanewise::oracle
