#pragma once
// The QEMU of this system: where it is, what it supports, and whether KVM really works here.
#include <filesystem>

#include "emulator/kernel.hpp"

namespace lanewise::emulator {

struct Qemu {
  std::filesystem::path program;
  int newest_link = 0;  // the newest PCIe generation that its root ports know
};

// Throws MissingError saying what to install.
Qemu find_qemu();

// Whether a guest reaches its first process under KVM: /dev/kvm may exist although no guest ever runs. Tried once after
// each boot of this system, which takes seconds; the answer is kept in the cache.
bool kvm_runs(Qemu const& qemu, Kernel const& kernel, std::filesystem::path const& guest_program);

// The newest PCIe generation in the output of `-device pcie-root-port,help`; 0 when it names none.
int newest_link_in(std::string_view help);

}  // namespace lanewise::emulator
