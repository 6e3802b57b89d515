#pragma once
// Which device of one machine is which of another. Both machines must be single hosts.
#include <optional>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

struct DeviceMatching {
  std::vector<std::optional<SocketId>> sockets;       // of the second machine, by socket of the first
  std::vector<std::optional<SocketId>> sockets_back;  // the other way round
  std::vector<std::optional<PciId>> functions;        // of the second machine, by function of the first
  std::vector<std::optional<PciId>> functions_back;
};

// By PCI address where both have one; ports and switches by what hangs from them; the rest by place, and among equals
// of one place by what they are, by name, and by order.
DeviceMatching match_devices(Machine const& first, Machine const& second);

}  // namespace lanewise
