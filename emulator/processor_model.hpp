#pragma once
// The processor of a guest, with vendor, family and name as the machine file's CPU says them. Linux asks for vendor and
// family, among others where it decides on peer access (p2pdma).
#include <string>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise::emulator {

struct ProcessorModel {
  std::string argument;  // of QEMU's -cpu
  std::string note;      // what of it is not the machine file's, for people; empty: nothing
};

// `kvm`: the host's own processor runs the guest, and stays what it is.
ProcessorModel processor_model(Machine const& machine, std::vector<SocketId> const& sockets, bool kvm);

}  // namespace lanewise::emulator
