#pragma once
#include <string>
#include <vector>

#include "emulator/guest_config.hpp"

namespace lanewise::emulator::guest {

// Loopback and every NIC up, named and with its address; an rxe device on each that has RDMA.
void start_network(GuestConfig const& config);

}  // namespace lanewise::emulator::guest
