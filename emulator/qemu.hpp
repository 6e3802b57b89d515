#pragma once
// The QEMU of this system: where it is, what it can do, and whether KVM really runs here.
#include <filesystem>

#include "emulator/kernel.hpp"

namespace lanewise::emulator {

struct Qemu {
  std::filesystem::path program;
  int newest_link = 0;  // the newest PCIe generation that its root ports know
};

// Throws MissingError saying what to install.
Qemu find_qemu();

// Whether a guest gets to its first process under KVM: /dev/kvm may be there and yet nothing ever run. Tried once after
// each boot of this system, within seconds; the answer is kept in the cache.
bool kvm_runs(Qemu const& qemu, Kernel const& kernel, std::filesystem::path const& guest_program);

// The newest generation in what `-device pcie-root-port,help` prints; 0 when it says nothing of it.
int newest_link_in(std::string_view help);

}  // namespace lanewise::emulator
