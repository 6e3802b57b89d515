#pragma once
// Capacity and latency of network ports.
#include "lanewise/machine/machine.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise::network {

// Where a part gives none. Source: the largest of InfiniBand and RoCE, which adapters of the last ten years default to.
inline constexpr Bytes kDefaultMtu{4096};
// The same of TCP: what fits into an Ethernet frame of 1500 bytes beside IPv4 and TCP headers.
inline constexpr Bytes kDefaultSegment{1448};

// Payload over bytes on the wire at a path MTU. Bytes beside the payload of a packet:
//   InfiniBand 28: LRH 8, BTH 12, ICRC 4, VCRC 2, delimiters 2
//   RoCE v2 82: Ethernet with preamble and gap 38, IPv4 20, UDP 8, BTH 12, ICRC 4; Soft-RoCE likewise
//   RoCE v1 94: Ethernet 38, GRH 40, BTH 12, ICRC 4
//   TCP 90: Ethernet 38, IPv4 20, TCP with timestamps 32
//   iWARP 110: Ethernet 38, IPv4 20, TCP with timestamps 32, MPA length and CRC 6, DDP and RDMAP 14
// Sources: OpenUCX src/uct/ib/base/ib_device.h; pcie-model eth.py; InfiniBand Architecture annex A16, A17; RFC 5041,
// 5044.
double wire_efficiency(LinkLayer layer, Transport transport, Bytes mtu);

// The same of a NIC: what its part says, or by its packets.
double payload_efficiency(Part const* nic);

// Payload bytes per second of one direction of a cable of this rate at a NIC. Nullopt: the rate is unknown.
std::optional<BytesPerSecond> payload_rate(Machine const& machine, PciId nic, std::optional<BytesPerSecond> rate);

// The same of all cables of a NIC together.
std::optional<BytesPerSecond> port_rate(Machine const& machine, PciId nic);

// The time one way between the ports of two NICs without switches. Default 0.6 us (EDR to XDR), 0.8 us on Ethernet.
// Source: OpenUCX.
Seconds wire_latency(Machine const& machine, PciId nic);
Seconds wire_latency(Part const* nic);
// The same of any port of a link layer.
Seconds wire_latency(LinkLayer layer);

// One pass through a switch of the fabric. Where its part gives none: 0.13 us on InfiniBand, 0.35 us on Ethernet.
// Sources: NVIDIA Quantum QM8700 datasheet (130 ns; EDR switches 90 ns); De Sensi et al., SC20 (350 ns for Slingshot,
// the only Ethernet switch of this class with a measured figure).
Seconds pass_latency(Machine const& machine, std::uint32_t network_switch);

}  // namespace lanewise::network
