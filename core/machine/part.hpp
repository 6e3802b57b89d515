#pragma once
// A part is a datasheet: what one CPU, GPU, NIC, switch, drive or link can do, wherever it is built in. Figures that
// nobody published are absent, and what needs them says so. docs/parts.md lists every key with its meaning.
#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/file.hpp"
#include "core/io/yaml.hpp"
#include "core/machine/pcie_link.hpp"
#include "core/units/quantity.hpp"

namespace lanewise {

enum class PartKind : std::uint8_t { Cpu, Gpu, Nic, Switch, Nvme, Device, Link, NvSwitch, NetworkSwitch };
std::string_view to_string(PartKind kind);

// The PCIe side of an endpoint or a switch port.
struct PcieFigures {
  std::optional<PcieLink> link;           // the most it can negotiate
  std::optional<Bytes> max_payload;       // MPS
  std::optional<Bytes> max_read_request;  // MRRS
  std::optional<int> tags;                // outstanding non-posted requests
  std::optional<bool> relaxed_ordering;   // its reads are relaxed-ordered: ACS does not redirect their completions
  std::optional<Seconds> latency;         // one way: endpoint processing, or one switch pass
  // What large packets reach of what the link above it could carry, towards the root and from it.
  std::optional<double> link_utilisation_up, link_utilisation_down;
  friend bool operator==(PcieFigures const&, PcieFigures const&) = default;
};

// Which root ports of a socket share one host bridge (decides PHB against NODE in `nvidia-smi topo -m`).
enum class HostBridges : std::uint8_t { PerSocket, PerRootPort };
// How far a root complex forwards peer-to-peer requests.
enum class Forwarding : std::uint8_t { None, SameHostBridge, SameSocket, Any };
// What Linux p2pdma says of this host bridge.
enum class P2pdma : std::uint8_t { No, SameHostBridge, Yes };

struct CpuFigures {
  std::string vendor;              // intel, amd, arm, ibm, nvidia
  std::vector<std::string> cpuid;  // "GenuineIntel/6/85" (vendor/family/model), for import
  std::optional<int> cores;
  std::optional<int> root_port_generation;  // the newest PCIe generation of its root ports
  HostBridges host_bridges = HostBridges::PerRootPort;
  std::optional<BytesPerSecond> memory_bandwidth;     // DRAM, theoretical, all channels of the socket
  std::optional<double> memory_efficiency;            // what long mixed streams reach of that
  std::optional<Seconds> memory_latency;              // what DRAM adds to a device's read
  std::optional<BytesPerSecond> core_copy_bandwidth;  // one core copying in memory
  std::optional<Seconds> root_complex_latency;        // one way through, port to port
  Forwarding forwarding = Forwarding::None;           // peer writes
  Forwarding read_forwarding = Forwarding::None;      // peer reads
  std::optional<BytesPerSecond> peer_read_bandwidth;  // where reads through the root complex are slower than writes
  std::optional<Bytes> peer_payload;                  // TLP payload of forwarded peer requests (Intel: 64 B)
  std::optional<BytesPerSecond> host_bridge_peer_bandwidth;  // peer traffic through one host bridge, each direction
  std::optional<BytesPerSecond> io_die_bandwidth;       // all device traffic of the socket's I/O die, each direction
  std::optional<BytesPerSecond> socket_peer_bandwidth;  // peer traffic to another socket, one direction
  std::optional<BytesPerSecond> socket_peer_bandwidth_both;  // sum of both directions, where they slow each other
  std::optional<double> host_duplex;  // a device reading and writing host memory at once, against twice one of them
  P2pdma p2pdma = P2pdma::No;
  std::optional<PerSecond> iommu_walks;  // page-table walks a second of one IOMMU
  std::optional<Seconds> iommu_walk_latency;
  std::optional<int> iotlb_entries;
  friend bool operator==(CpuFigures const&, CpuFigures const&) = default;
};

// How the driver runs the two legs of a staged copy: a chunk's second beside the next chunk's first, or in turn.
enum class StagedLegs : std::uint8_t { Overlapped, InTurn };

struct GpuFigures {
  std::string vendor;                      // nvidia, amd, intel
  std::string chip;                        // ga100, gh100, gfx906: peers must share it
  std::string compute_capability;          // "8.0"; empty where there is none
  std::optional<int> multiprocessors;      // SMs or compute units
  std::optional<FlopPerSecond> fp32_rate;  // peak, not of matrices
  std::optional<FlopPerSecond> fp16_rate;  // peak, of dense matrices where it has units for them
  std::optional<Bytes> memory;
  std::optional<BytesPerSecond> memory_bandwidth;
  std::optional<double> memory_efficiency;  // what a local copy reaches of that
  std::optional<Bytes> bar1;
  std::optional<int> copy_engines;
  std::optional<int> peer_copy_engines;     // of copies to other GPUs over NVLink; absent: all of the above do them
  std::optional<Seconds> copy_start;        // a copy engine from ready to its first byte, back to back in a stream
  std::optional<Seconds> host_copy_start;   // the same, to or from host memory, where it differs
  std::optional<Seconds> local_copy_start;  // the same, within its own memory
  std::optional<Seconds> kernel_start;      // a kernel from ready to its first access, back to back in a stream
  std::optional<Seconds> pulled_start;      // on top, where the destination's stream drives a peer copy
  std::optional<Seconds> engine_change;     // on top, where a copy out of it follows work that its engine did not do
  std::optional<Seconds> chunk_gap;         // from one GPU's end to another's start, as between a ring's chunks
  // Of the driver's copies without peer access: the legs, what passes before the first byte, between one chunk and the
  // next, and what both directions together reach of twice one.
  StagedLegs staged_legs = StagedLegs::Overlapped;
  std::optional<Seconds> staged_start;
  std::optional<Seconds> staged_gap;
  std::optional<double> staged_duplex;
  std::optional<int> max_peers;  // peer mappings without NVSwitch
  bool pcie_peer = true;         // the driver allows PCIe peer access between two of them
  bool pcie_atomics = false;     // native atomics over PCIe peer mappings
  bool rdma = true;              // GPUDirect RDMA supported by the driver for this product
  int nvlink_generation = 0;     // 0: none
  int nvlink_ports = 0;
  friend bool operator==(GpuFigures const&, GpuFigures const&) = default;
};

enum class LinkLayer : std::uint8_t { InfiniBand, Ethernet };
// What RDMA packets travel in; ByLinkLayer: InfiniBand, or RoCE v2 on Ethernet.
enum class Transport : std::uint8_t { ByLinkLayer, RoceV1, RoceV2, Iwarp };

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
  std::optional<BytesPerSecond> queue_pair_bandwidth;  // one queue pair, where it does not fill the port
  friend bool operator==(NicFigures const&, NicFigures const&) = default;
};

struct SwitchFigures {
  std::optional<BytesPerSecond>
      virtual_switch_fabric;  // between virtual switches of one chip, each direction; absent: none
  // Quirk: what several devices below one uplink reach together when they write to several other root ports at once;
  // absent: they share the uplink.
  std::optional<BytesPerSecond> posted_write_collapse;
  friend bool operator==(SwitchFigures const&, SwitchFigures const&) = default;
};

struct NvmeFigures {
  std::optional<BytesPerSecond> read_bandwidth;
  std::optional<BytesPerSecond> write_bandwidth;
  std::optional<Seconds> read_latency;
  friend bool operator==(NvmeFigures const&, NvmeFigures const&) = default;
};

// NVLink, NVLink-C2C, xGMI between GPUs, QPI/UPI/xGMI/X-Bus between sockets, a network cable.
enum class LinkFamily : std::uint8_t { NvLink, C2c, GpuXgmi, Socket, Network };

struct LinkFigures {
  LinkFamily family = LinkFamily::NvLink;
  int generation = 0;                            // of NVLink
  std::optional<BytesPerSecond> rate;            // one link, one direction, raw
  std::optional<double> copy_efficiency;         // payload share for copy engines and DMA
  std::optional<double> copy_efficiency_to_cpu;  // the same from a GPU into its CPU's memory, where it differs
  std::optional<double> load_store_efficiency;   // payload share for SM loads and stores
  std::optional<double> load_efficiency;         // the same of loads, where it differs from that of stores
  std::optional<double> duplex;                  // both directions together against twice one (1: independent)
  std::optional<Seconds> latency;                // one way
  friend bool operator==(LinkFigures const&, LinkFigures const&) = default;
};

struct SwitchHopFigures {              // NVSwitch and network switches
  std::optional<Seconds> latency;      // one pass
  std::optional<BytesPerSecond> rate;  // of one port (network switches)
  friend bool operator==(SwitchHopFigures const&, SwitchHopFigures const&) = default;
};

struct Part {
  std::string name;
  std::string title;
  PartKind kind = PartKind::Device;
  std::vector<std::string> pci_ids;  // "10de:20b5", for import
  bool inlined = false;              // described in the machine file itself
  PcieFigures pcie;                  // of gpu, nic, switch, nvme and device; of a cpu: its root ports
  CpuFigures cpu;                    // only the figures of `kind` mean anything
  GpuFigures gpu;
  NicFigures nic;
  SwitchFigures pcie_switch;
  NvmeFigures nvme;
  LinkFigures link;
  SwitchHopFigures hop;
  friend bool operator==(Part const&, Part const&) = default;
};

// The keys of a part of each kind; they check files and generate the JSON Schema.
MapSpec const& part_spec(PartKind kind);
// Reads a part from a mapping that must say its `kind`; problems go to the diagnostics.
Part read_part(std::string name, YamlNode const& node, SourceText const& source, Diagnostics& diagnostics);

}  // namespace lanewise
