#pragma once
// What a network port carries.
#include "core/machine/machine.hpp"
#include "core/units/quantity.hpp"

namespace lanewise::network {

// Payload share of the wire at a path MTU. InfiniBand: LRH 8, BTH 12, ICRC 4, VCRC 2, delimiters 2. RoCE v2: Ethernet
// framing with preamble and gap 38, IPv4 20, UDP 8, BTH 12, ICRC 4. Sources: OpenUCX src/uct/ib/base/ib_device.h;
// pcie-model eth.py.
double wire_efficiency(LinkLayer layer, Bytes mtu);

// Payload bytes per second of one direction of a port, or nullopt where the part does not say its rate.
std::optional<BytesPerSecond> port_rate(Machine const& machine, PciId nic);

// One way from port to port of two NICs without switches. Source: OpenUCX, 0.6 us EDR to XDR, +0.2 us on Ethernet.
Seconds wire_latency(Machine const& machine, PciId nic);

}  // namespace lanewise::network
