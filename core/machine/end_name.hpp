#pragma once
#include <string>
#include <variant>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The name of what an NVLink ends at: a GPU, or a CPU.
inline std::string const& end_name(Machine const& machine, NvlinkEnd const& end) {
  auto const* gpu = std::get_if<PciId>(&end);
  return gpu != nullptr ? machine.at(*gpu).name : machine.at(std::get<SocketId>(end)).name;
}

}  // namespace lanewise
