#pragma once
// A part is a datasheet: what one CPU, GPU, NIC, switch, drive or link can do, in whatever machine. A figure that
// nobody published is absent; predictions that need it name it. docs/keys/part.md lists every key with its meaning.
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/machine/figure_source.hpp"
#include "lanewise/machine/pcie_link.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise {

enum class PartKind : std::uint8_t { Cpu, Gpu, Nic, Switch, Nvme, Device, Link, NvSwitch, NetworkSwitch };
std::string_view to_string(PartKind kind);

// The PCIe side of an endpoint or a switch port.
struct PcieFigures {
  std::optional<PcieLink> link;           // the fastest and widest link it can negotiate
  std::optional<Bytes> max_payload;       // MPS
  std::optional<Bytes> max_read_request;  // MRRS
  std::optional<int> tags;                // outstanding non-posted requests
  std::optional<bool> relaxed_ordering;   // of its reads: ACS then does not redirect their completions
  std::optional<Seconds> latency;         // one way through the endpoint, or one pass through the switch
  // The share of the link's payload capacity that long transfers reach, towards the root and from it.
  std::optional<double> link_utilisation_up, link_utilisation_down;
  friend bool operator==(PcieFigures const&, PcieFigures const&) = default;
};

// Whether all root ports of a socket share one host bridge: `nvidia-smi topo -m` then says PHB instead of NODE.
enum class HostBridges : std::uint8_t { PerSocket, PerRootPort };
// Between which root ports a root complex forwards peer-to-peer requests.
enum class Forwarding : std::uint8_t { None, SameHostBridge, SameSocket, Any };
// Whether Linux p2pdma allows peer-to-peer traffic through this host bridge (drivers/pci/p2pdma.c).
enum class P2pdma : std::uint8_t { No, SameHostBridge, Yes };

struct CpuFigures {
  std::string vendor;              // intel, amd, arm, ibm, nvidia
  std::vector<std::string> cpuid;  // "GenuineIntel/6/85" (vendor/family/model), for import
  std::optional<int> cores;
  std::optional<int> lanes;                 // of PCIe, of one socket
  std::optional<int> root_port_generation;  // the newest PCIe generation of its root ports
  HostBridges host_bridges = HostBridges::PerRootPort;
  std::optional<BytesPerSecond> memory_bandwidth;     // DRAM, theoretical, all channels of the socket
  std::optional<double> memory_efficiency;            // the share of it that long mixed streams reach
  std::optional<Seconds> memory_latency;              // what DRAM adds to a device's read
  std::optional<BytesPerSecond> core_copy_bandwidth;  // one core copying in memory
  std::optional<Seconds> root_complex_latency;        // one way through, port to port
  Forwarding forwarding = Forwarding::None;           // peer writes
  Forwarding read_forwarding = Forwarding::None;      // peer reads
  std::optional<BytesPerSecond> peer_read_bandwidth;  // where reads through the root complex are slower than writes
  std::optional<Bytes> peer_payload;                  // TLP payload of forwarded peer requests (Intel: 64 B)
  std::optional<BytesPerSecond> host_bridge_peer_bandwidth;  // peer traffic through one host bridge, each direction
  // Host memory written and read by all devices of a socket, each alone and both together.
  std::optional<BytesPerSecond> host_write_bandwidth;
  std::optional<BytesPerSecond> host_read_bandwidth;
  std::optional<BytesPerSecond> host_traffic_bandwidth;
  std::optional<BytesPerSecond> host_bridge_memory_bandwidth;  // the same through one host bridge, each direction
  std::optional<BytesPerSecond> socket_peer_bandwidth;         // peer traffic to another socket, one direction
  std::optional<BytesPerSecond> socket_peer_bandwidth_both;    // sum of both directions, where they slow each other
  // The same through one root port, where that is less.
  std::optional<BytesPerSecond> socket_peer_port_bandwidth;
  std::optional<BytesPerSecond> socket_peer_port_bandwidth_both;
  std::optional<double> host_duplex;  // a device reads and writes host memory at once: total over twice one of them
  P2pdma p2pdma = P2pdma::No;
  std::optional<PerSecond> iommu_walks;  // page-table walks a second of one IOMMU
  std::optional<Seconds> iommu_walk_latency;
  std::optional<int> iotlb_entries;
  friend bool operator==(CpuFigures const&, CpuFigures const&) = default;
};

// How the driver runs the two legs of a staged copy: the second leg of a chunk at the same time as the first leg of the
// next chunk, or one leg after the other.
enum class StagedLegs : std::uint8_t { Overlapped, InTurn };

struct GpuFigures {
  std::string vendor;                      // nvidia, amd, intel
  std::string chip;                        // ga100, gh100, gfx906: peers must share it
  std::string compute_capability;          // "8.0"; empty where there is none
  std::optional<int> multiprocessors;      // SMs or compute units
  std::optional<FlopPerSecond> fp32_rate;  // peak, not of matrices
  std::optional<FlopPerSecond> fp16_rate;  // peak, of dense matrices where it has units for them
  std::optional<FlopPerSecond> fp8_rate;   // peak, of dense matrices
  std::optional<FlopPerSecond> fp4_rate;   // the same
  std::optional<Bytes> memory;
  std::optional<BytesPerSecond> memory_bandwidth;
  std::optional<double> memory_efficiency;  // the share of it that a local copy reaches
  std::optional<Bytes> bar1;
  std::optional<int> copy_engines;
  std::optional<int> peer_copy_engines;     // only for copies to other GPUs over NVLink; absent: copy_engines do those
  std::optional<Seconds> copy_start;        // of a copy engine, from ready to first byte, back to back in a stream
  std::optional<Seconds> host_copy_start;   // the same for copies to or from host memory, where it differs
  std::optional<Seconds> local_copy_start;  // the same for copies within its own memory
  std::optional<Seconds> kernel_start;      // of a kernel, from ready to first access, back to back in a stream
  std::optional<Seconds> pulled_start;      // extra, when the destination's stream drives a peer copy
  std::optional<Seconds> engine_change;     // extra, when a copy from it follows work of another engine
  std::optional<Seconds> chunk_gap;  // from the end of one GPU's copy to the start of another's that waits for it
  // Of the driver's staged copies (no peer access): how the legs run, the time before the first byte, the gap between
  // chunks, and what both directions together reach over twice one direction.
  StagedLegs staged_legs = StagedLegs::Overlapped;
  std::optional<Seconds> staged_start;
  std::optional<Seconds> staged_gap;
  std::optional<double> staged_duplex;
  std::optional<int> max_peers;  // peer mappings without NVSwitch
  bool pcie_peer = true;         // the driver allows PCIe peer access between two of them
  bool pcie_atomics = false;     // native atomics over PCIe peer mappings
  bool rdma = true;              // GPUDirect RDMA supported by the driver for this product
  int nvlink_generation = 0;     // 0: no NVLink
  int nvlink_ports = 0;
  friend bool operator==(GpuFigures const&, GpuFigures const&) = default;
};

enum class LinkLayer : std::uint8_t { InfiniBand, Ethernet };
// What packets travel in; ByLinkLayer: InfiniBand, or on Ethernet RoCE v2, and TCP where the adapter does no RDMA.
enum class Transport : std::uint8_t { ByLinkLayer, RoceV1, RoceV2, Iwarp, Tcp };

struct NicFigures {
  std::string driver;  // mlx5, efa, bnxt_re, irdma, rxe, virtio
  LinkLayer link_layer = LinkLayer::Ethernet;
  Transport transport = Transport::ByLinkLayer;
  bool rdma = true;                    // can do RDMA verbs
  bool gpudirect = true;               // its driver registers GPU memory (peermem or dma-buf)
  std::optional<BytesPerSecond> rate;  // of one port on the wire
  std::optional<Bytes> mtu;
  std::optional<Seconds> wire_latency;  // one way, port to port
  std::optional<PerSecond> message_rate;
  std::optional<BytesPerSecond> read_bandwidth;        // RDMA read over one path
  std::optional<BytesPerSecond> queue_pair_bandwidth;  // of one queue pair, where that is less than the port
  std::optional<double> payload_efficiency;            // payload over bytes on the wire; absent: by packet and headers
  std::optional<Seconds> socket_latency;               // one end of a message through the kernel's sockets
  std::optional<BytesPerSecond> socket_bandwidth;      // one stream through them
  std::optional<Seconds> plugin_latency;               // of a message, as its plugin tells NCCL
  bool ordered_writes = true;                          // within 128 bytes, as the flags of NCCL's LL and LL128 need
  friend bool operator==(NicFigures const&, NicFigures const&) = default;
};

struct SwitchFigures {
  std::optional<int> lanes;  // of the chip, uplinks included
  // Between virtual switches of one chip, each direction; absent: there is no such way.
  std::optional<BytesPerSecond> virtual_switch_fabric;
  // Quirk: the total of several devices below one uplink that write to several other root ports at once. Absent: they
  // share the uplink. See posted_write_collapses().
  std::optional<BytesPerSecond> posted_write_collapse;
  friend bool operator==(SwitchFigures const&, SwitchFigures const&) = default;
};

struct NvmeFigures {
  std::optional<BytesPerSecond> read_bandwidth;
  std::optional<BytesPerSecond> write_bandwidth;
  std::optional<Seconds> read_latency, write_latency;
  friend bool operator==(NvmeFigures const&, NvmeFigures const&) = default;
};

// NVLink, NVLink-C2C, xGMI between GPUs, QPI/UPI/xGMI/X-Bus between sockets, a network cable, RoCE between
// accelerators' own ports.
enum class LinkFamily : std::uint8_t { NvLink, C2c, GpuXgmi, Socket, Network, GpuRoce };

struct LinkFigures {
  LinkFamily family = LinkFamily::NvLink;
  int generation = 0;                            // of NVLink
  std::optional<BytesPerSecond> rate;            // one link, one direction, raw
  std::optional<double> copy_efficiency;         // payload over raw rate, for copy engines and DMA
  std::optional<double> copy_efficiency_to_cpu;  // the same from a GPU into its CPU's memory, where it differs
  std::optional<double> load_store_efficiency;   // payload over raw rate, for loads and stores by SMs
  std::optional<double> load_efficiency;         // the same for loads, where it differs from stores
  std::optional<double> duplex;                  // both directions together over twice one (1: independent)
  std::optional<Seconds> latency;                // one way
  friend bool operator==(LinkFigures const&, LinkFigures const&) = default;
};

struct SwitchHopFigures {              // NVSwitch and network switches
  std::optional<Seconds> latency;      // one pass
  std::optional<BytesPerSecond> rate;  // of one port (network switches)
  std::optional<int> ports;            // its radix
  // Of a network switch that adds up what passes it (SHARP): the share of a NIC's rate that it adds up at, and how many
  // streams at a time. Absent: it adds nothing.
  std::optional<double> reduction_efficiency;
  std::optional<int> reduction_streams;
  friend bool operator==(SwitchHopFigures const&, SwitchHopFigures const&) = default;
};

struct Part {
  std::string name;
  std::string title;
  PartKind kind = PartKind::Device;
  std::vector<std::string> pci_ids;  // "10de:20b5", for import
  bool inlined = false;              // described in the machine file, not in the catalogue
  // Of a generic part: its rates divided and multiplied by this hold 90 % of the products that it stands for.
  std::optional<double> spread;
  std::optional<double> latency_spread;  // the same for its latencies
  std::optional<int> year;               // in which it was first sold
  std::optional<Watts> power;            // at most: of the board, package or switch
  std::vector<FigureSource> sources;     // at most one of each figure
  PcieFigures pcie;                      // of gpu, nic, switch, nvme and device; of a cpu: its root ports
  CpuFigures cpu;                        // of this and the following, only the one of `kind` is used
  GpuFigures gpu;
  NicFigures nic;
  SwitchFigures pcie_switch;
  NvmeFigures nvme;
  LinkFigures link;
  SwitchHopFigures hop;

  // Where a figure is said; nullptr: nobody knows, or it was changed since.
  [[nodiscard]] FigureSource const* source_of(std::string_view figure) const;
  // To be called when a figure is changed: its source says nothing of the new one.
  void forget_source(std::string_view figure);
  friend bool operator==(Part const&, Part const&) = default;
};

}  // namespace lanewise
