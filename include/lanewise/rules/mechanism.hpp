#pragma once
// Mechanisms of moving data, named as in YAML, on the command line and in JSON; and one way to do a transfer.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

enum class Mechanism : std::uint8_t {
  Local,          // within one memory
  Nvlink,         // peer access over NVLink, NVSwitch, C2C or GPU xGMI
  NvlinkRelay,    // through the memory of a third GPU that has NVLink to both
  PcieP2p,        // peer access over PCIe
  HostDma,        // a GPU's copy engine to or from pinned host memory
  HostStaged,     // through a ring of pinned chunks in host memory, pipelined
  SharedHost,     // one whole pinned buffer that both devices reach, no pipeline
  BarCopy,        // the CPU loads and stores through BAR1
  Rdma,           // a NIC and host memory; with a drive of another node also
  Gdr,            // GPUDirect RDMA: a NIC and GPU memory
  GdrRelay,       // NVLink to the GPU beside the NIC, then GPUDirect RDMA
  NetStaged,      // pinned chunks in host memory, pipelined with the network
  StorageDirect,  // a drive and GPU memory; a drive of another node sends through its node's memory and NIC (NVMe-oF)
  StorageStaged,  // the same through host memory of the GPU's node
};
inline constexpr std::size_t kMechanismCount = 14;
std::string_view to_string(Mechanism mechanism);
Parsed<Mechanism> parse_mechanism(std::string_view text);
std::array<Mechanism, kMechanismCount> const& all_mechanisms();
// A regular expression that matches their names, for the JSON Schema.
std::string mechanism_pattern();

// What carries a step between nodes: RDMA verbs, or messages of an MPI library. Over MPI `rdma` means host memory that
// the library sends and receives, and `gdr` GPU memory whose address it takes (CUDA-aware MPI).
enum class Carrier : std::uint8_t { Verbs, Mpi };
std::string_view to_string(Carrier carrier);
Parsed<Carrier> parse_carrier(std::string_view text);

// Which end drives a peer access: the source pushes posted writes, or the destination pulls by reads.
enum class Drive : std::uint8_t { Push, Pull };

// The access pattern of a device's DMA to host memory: many DMAs of `each` bytes over a window of memory, sequential or
// random. With `each` 0: one bulk transfer in packets as large as the link allows.
struct Access {
  Bytes each{0};
  Bytes window{0};
  bool random = false;
  friend bool operator==(Access const&, Access const&) = default;
};

// One way to do one transfer: a mechanism with all its choices made.
struct Way {
  Mechanism mechanism = Mechanism::Local;
  Drive drive = Drive::Push;              // of peer access over PCIe or NVLink
  std::optional<PciId> relay = {};        // the GPU in between (NvlinkRelay), or near the source's NIC (GdrRelay)
  std::optional<PciId> relay_to = {};     // the GPU near the destination's NIC (GdrRelay)
  std::optional<NumaId> staging = {};     // host memory on the source's node (staged forms, drives of other nodes)
  std::optional<NumaId> staging_to = {};  // and on the destination's node, where that differs
  std::optional<PciId> nic_from = {};     // the source node's NIC
  std::optional<PciId> nic_to = {};       // the destination node's NIC
  Bytes chunk{0};                         // of pipelined forms; 0: the best one
  bool by_driver = false;                 // host_staged as the driver does it without peer access
  Access access = {};                     // of DMA into and out of host memory
  bool pageable = false;                  // host memory that is not pinned: one core copies it, chunk by chunk
  Carrier carrier = Carrier::Verbs;       // of network forms
  int queue_pairs = 0;                    // of network forms; 0: enough to fill the port
  int cores = 0;                          // that copy between host memories; 0: one
  int blocks = 0;                         // thread blocks of the kernel that moves it; 0: as many as it needs
  int warps = 0;                          // of a kernel whose warps each carry one token at a time; 0: whole blocks do
  int warps_per_block = 0;                // of such warps that share a block
  bool low_latency = false;               // in words that carry a flag beside the data (NCCL's LL); `bytes` count both
  bool multimem = false;    // NVSwitch adds or multiplies what it carries (NVLS); `bytes` are what passes a GPU's links
  bool in_network = false;  // network switches add what nodes send, and send them the sum (SHARP): each NIC's `bytes`
  friend bool operator==(Way const&, Way const&) = default;
};

}  // namespace lanewise
