#pragma once
// One node of a machine or cluster as a virtual machine: the QEMU command line that builds its PCI tree, and the
// guest's configuration. A value: nothing here runs anything.
//
//   auto const vm = virtual_machine(machine, HostId(0), options);
//   vm.arguments                   // -machine q35 ... -device pxb-pcie,id=bridge0,bus_nr=1,numa_node=0 ...
//   vm.roles                       // 0000:04:00.0 is gpu0, an a100-pcie-80g
#include <filesystem>
#include <string>
#include <vector>

#include "core/interop/machines/roles.hpp"
#include "emulator/guest_config.hpp"
#include "emulator/pci_layout.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::emulator {

enum class Accelerator : std::uint8_t { Emulation, Kvm };
std::string_view to_string(Accelerator accelerator);  // tcg, kvm: QEMU's words

// The numbers of the file descriptors that QEMU inherits. Networks have consecutive numbers.
inline constexpr int kControlDescriptor = 3, kOutputDescriptor = 4, kErrorDescriptor = 5, kConsoleDescriptor = 6,
                     kInitramfsDescriptor = 7, kInputDescriptor = 8, kFirstNetworkDescriptor = 9;

inline constexpr int kMaxNodes = 64;

struct VirtualMachineOptions {
  Accelerator accelerator = Accelerator::Emulation;
  int newest_link = 4;  // the newest PCIe generation that this QEMU's root ports know
  Bytes memory{std::int64_t{1} << 30};
  std::filesystem::path kernel = "vmlinuz";
  std::vector<GuestShare> shares = {{"share0", "/", false}};
  GuestInputKind input = GuestInputKind::None;
  std::string kernel_arguments = {};           // in addition to those of the machine file; may override them
  std::vector<std::string> qemu_devices = {};  // in addition, as QEMU's -device takes them
  int node = 0;                                // which node it is
  int nodes = 1;                               // of how many
};

struct VirtualMachine {
  std::string name;                    // "node0"
  std::vector<std::string> arguments;  // of QEMU
  int processors = 0;                  // that the guest has
  std::vector<int> networks;           // numbers of its networks, in the order of their descriptors
  std::vector<Role> roles;
  std::vector<std::string> cpus;            // parts of the sockets, for the roles file
  std::vector<Part> parts;                  // of the machine file's own, for the roles file
  std::vector<NotExpressed> not_expressed;  // what QEMU cannot show of the machine file
  GuestConfig guest;                        // names, hosts, functions, NICs, shares; run_in_guests adds the rest
};

// Throws PlanError when the host needs more than the emulated PC has.
VirtualMachine virtual_machine(Machine const& machine, HostId host, VirtualMachineOptions const& options);

}  // namespace lanewise::emulator
