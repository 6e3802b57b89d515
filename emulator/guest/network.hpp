#pragma once
#include <string>
#include <vector>

#include "emulator/guest_config.hpp"

namespace lanewise::emulator::guest {

// Brings up loopback and every NIC with its name and address, and adds an rxe device to each NIC that has RDMA.
void start_network(GuestConfig const& config);

}  // namespace lanewise::emulator::guest
