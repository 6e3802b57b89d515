#pragma once
// PCI Express: capacity of links and costs of packets, in payload bytes.
#include "lanewise/machine/pcie_link.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise::pcie {

// Raw bytes per second of one direction after line encoding: GT/s x lanes x encoding / 8.
// Encoding 8/10 (gen1, gen2), 128/130 (gen3 to gen5), 242/256 flits (gen6).
// Source: PCI Express Base Specification 6.0; github.com/pcie-bench/pcie-model model/pcie.py.
BytesPerSecond raw_rate(PcieLink link);

// Payload share of packets of `payload` bytes: payload / (payload + header + ACK and flow-control share).
// 26 bytes of framing, header and CRC a packet (24 up to gen2), 16 bytes of link-layer packets every 4 packets.
// Source: OpenUCX src/ucs/sys/topo/base/topo.c. Gen6 flits carry 236 of 256 bytes
// (glennklockwood.com/garden/PCIe-Gen6).
double packet_efficiency(int generation, Bytes payload);

// The share of that which long transfers reach (receiver credits, skips, replays), as measured on x16 GPUs:
// gen3 0.93 (12.1 to 13.2 of 14.1), gen4 0.93 (26.0 to 27.1 of 28.2), gen5 0.98 (53 to 57.3 of 56.4 GB/s).
// Sources: Microway, NVIDIA nvbandwidth issue 50, voipmonitor/rtx6kpro. Gen6 is unmeasured: as gen5.
double link_utilisation(int generation);

// Payload bytes per second of one direction of a link in bulk: at the utilisation of its generation, or at another.
BytesPerSecond capacity(PcieLink link, Bytes payload);
BytesPerSecond capacity(PcieLink link, Bytes payload, double utilisation);

// How much more of a link packets of `payload` bytes take than packets of `nominal` bytes.
double packet_penalty(int generation, Bytes payload, Bytes nominal);

// Bytes of read requests over bytes of data that they fetch: 24 for every `max_read_request`.
// Source: pcie-model mem_bw.py (MRd with 64-bit address: 16 header + 8 framing and link layer).
double read_request_share(Bytes max_read_request);

// The rate of `tags` outstanding reads of `request` bytes over a round trip (Little's law).
// Source: Neugebauer et al., SIGCOMM 2018, section 3; physics of non-posted requests.
BytesPerSecond outstanding_read_limit(int tags, Bytes request, Seconds round_trip);

}  // namespace lanewise::pcie
