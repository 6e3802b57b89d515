#include "tests/oracle/linux_pci.hpp"

#include <linux/pci_regs.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace lanewise::oracle {
namespace {

constexpr cpuinfo_x86 kIntel{6, X86_VENDOR_INTEL}, kZen1And2{0x17, X86_VENDOR_AMD}, kZen3And4{0x19, X86_VENDOR_AMD},
    kZen5{0x1a, X86_VENDOR_AMD}, kNotX86{0, X86_VENDOR_UNKNOWN};

// Families: CPUID, as the parts' `cpuid` has it (23 is 0x17). Functions: pci.ids, the host bridge or root port that
// lspci lists first on a root bus.
constexpr std::array kCpus{
    LinuxCpu{"core-rocket-lake", kIntel, 0x8086, 0x4c43},
    LinuxCpu{"xeon-sandy-bridge", kIntel, 0x8086, 0x3c00},
    LinuxCpu{"xeon-ivy-bridge", kIntel, 0x8086, 0x0e00},
    LinuxCpu{"xeon-haswell", kIntel, 0x8086, 0x2f00},
    LinuxCpu{"xeon-broadwell", kIntel, 0x8086, 0x6f00},
    LinuxCpu{"xeon-e5-2682-v4", kIntel, 0x8086, 0x6f00},
    LinuxCpu{"xeon-e5-2698-v4", kIntel, 0x8086, 0x6f00},
    LinuxCpu{"xeon-skylake", kIntel, 0x8086, 0x2030},
    LinuxCpu{"cpu-generic", kIntel, 0x8086, 0x2030},  // server CPUs since Skylake-SP and Zen: Linux knows them all
    LinuxCpu{"xeon-platinum-8168", kIntel, 0x8086, 0x2030},
    LinuxCpu{"xeon-platinum-8174", kIntel, 0x8086, 0x2030},
    LinuxCpu{"xeon-platinum-8275cl", kIntel, 0x8086, 0x2030},
    LinuxCpu{"xeon-ice-lake", kIntel, 0x8086, 0x09a2},
    LinuxCpu{"xeon-platinum-8380", kIntel, 0x8086, 0x09a2},
    LinuxCpu{"xeon-sapphire-rapids", kIntel, 0x8086, 0x09a2},
    LinuxCpu{"xeon-platinum-8480c", kIntel, 0x8086, 0x09a2},
    LinuxCpu{"xeon-emerald-rapids", kIntel, 0x8086, 0x09a2},
    LinuxCpu{"xeon-platinum-8558", kIntel, 0x8086, 0x09a2},
    LinuxCpu{"xeon-platinum-8592plus", kIntel, 0x8086, 0x09a2},
    LinuxCpu{"xeon-granite-rapids", kIntel, 0x8086, 0x09a2},
    LinuxCpu{"xeon-6980p", kIntel, 0x8086, 0x09a2},
    LinuxCpu{"xeon-6776p", kIntel, 0x8086, 0x09a2},
    LinuxCpu{"xeon-6787p", kIntel, 0x8086, 0x09a2},
    LinuxCpu{"xeon-sierra-forest", kIntel, 0x8086, 0x09a2},
    LinuxCpu{"xeon-6780e", kIntel, 0x8086, 0x09a2},
    LinuxCpu{"epyc-zen1", kZen1And2, 0x1022, 0x1450},
    LinuxCpu{"epyc-zen2", kZen1And2, 0x1022, 0x1480},
    LinuxCpu{"epyc-7742", kZen1And2, 0x1022, 0x1480},
    LinuxCpu{"epyc-7v12", kZen1And2, 0x1022, 0x1480},
    LinuxCpu{"epyc-zen3", kZen3And4, 0x1022, 0x1480},
    LinuxCpu{"epyc-7763", kZen3And4, 0x1022, 0x1480},
    LinuxCpu{"epyc-7v13", kZen3And4, 0x1022, 0x1480},
    LinuxCpu{"threadripper-pro-5995wx", kZen3And4, 0x1022, 0x1480},
    LinuxCpu{"epyc-zen4", kZen3And4, 0x1022, 0x14a4},
    LinuxCpu{"epyc-9654", kZen3And4, 0x1022, 0x14a4},
    LinuxCpu{"threadripper-pro-7955wx", kZen3And4, 0x1022, 0x14a4},
    LinuxCpu{"ryzen-7950x", kZen3And4, 0x1022, 0x14d8},
    LinuxCpu{"epyc-zen5", kZen5, 0x1022, 0x153a},
    LinuxCpu{"epyc-9575f", kZen5, 0x1022, 0x153a},
    LinuxCpu{"epyc-9655", kZen5, 0x1022, 0x153a},
    LinuxCpu{"epyc-9755", kZen5, 0x1022, 0x153a},
    LinuxCpu{"epyc-9965", kZen5, 0x1022, 0x153a},
    LinuxCpu{"threadripper-pro-9995wx", kZen5, 0x1022, 0x153a},
    LinuxCpu{"vera", kNotX86, 0x10de, 0x22b1},
    LinuxCpu{"grace", kNotX86, 0x10de, 0x22b1},
    LinuxCpu{"grace-480g", kNotX86, 0x10de, 0x22b1},
    LinuxCpu{"grace-496g", kNotX86, 0x10de, 0x22b1},
    LinuxCpu{"power9-ac922", kNotX86, 0x1014, 0x04c1},
};

// A control that nobody could read is taken for what Linux sets by itself, as our rules do.
std::uint16_t control_bits(AcsControl control) { return control.known ? control.bits : AcsControl::on().bits; }

void set_acs(pci_dev& port, AcsControl control) {
  port.acs_cap = 0x148;
  port.acs_control = control_bits(control);
}

}  // namespace

LinuxCpu const* linux_cpu(std::string_view part) {
  auto const* found = std::find_if(kCpus.begin(), kCpus.end(), [&](LinuxCpu const& cpu) { return cpu.part == part; });
  return found == kCpus.end() ? nullptr : found;
}

LinuxPci::LinuxPci(Machine const& machine) {
  for (auto const& bridge : machine.host_bridges) {
    auto const* part = machine.part_of(bridge.socket);
    auto const* cpu = part != nullptr ? linux_cpu(part->name) : nullptr;
    if (part != nullptr && cpu == nullptr)
      throw std::runtime_error("add what Linux knows of the processor '" + part->name +
                               "' to the table in tests/oracle/linux_pci.cpp");
    add_host_bridge(cpu);
    if (cpu != nullptr && bridges_.size() == 1) boot_cpu_ = cpu->cpu;
  }
  for (std::size_t i = 0; i < machine.functions.size(); ++i) of_function_.push_back(&add_function(machine, PciId(i)));
}

pci_dev& LinuxPci::add(pci_bus* bus, pci_dev* upstream) {
  auto& device = devices_.emplace_back();
  device.bus = bus;
  device.upstream = upstream;
  device.devfn = static_cast<unsigned>(devices_.size() % 256);
  device.pcie_type = PCI_EXP_TYPE_ENDPOINT;
  return device;
}

void LinuxPci::add_host_bridge(LinuxCpu const* cpu) {
  auto& bridge = bridges_.emplace_back();
  auto& bus = buses_.emplace_back();
  bridge.bus = &bus;
  bus.host = &bridge;
  bus.number = static_cast<unsigned char>(buses_.size());
  auto& first = add(&bus, nullptr);
  first.devfn = 0;
  if (cpu != nullptr) {
    first.vendor = cpu->vendor;
    first.device = cpu->device;
  }
  bus.devices.first = &first;
}

pci_dev& LinuxPci::add_function(Machine const& machine, PciId id) {
  auto const& function = machine.at(id);
  auto* const bus = &buses_[index(function.host_bridge)];
  pci_dev* above = nullptr;
  if (function.parent && machine.at(*function.parent).kind == PciKind::Switch) {
    above = &add(bus, at(*function.parent));
    above->pcie_type = PCI_EXP_TYPE_DOWNSTREAM;
  } else if (function.parent) {
    above = at(*function.parent);
  }
  if (above != nullptr) set_acs(*above, machine.acs_above(id));
  auto& made = add(bus, above);
  if (function.kind == PciKind::RootPort) made.pcie_type = PCI_EXP_TYPE_ROOT_PORT;
  if (function.kind == PciKind::Switch) made.pcie_type = PCI_EXP_TYPE_UPSTREAM;
  return made;
}

}  // namespace lanewise::oracle
