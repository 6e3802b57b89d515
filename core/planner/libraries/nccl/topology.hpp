#pragma once
// One node as NCCL sees it: its GPUs, NICs, PCIe switches and CPUs, links with NCCL's own constants, and the best path
// between any two (NCCL src/graph/topo.h, topo.cc, paths.cc). Rates are in GB/s, as there.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/planner/libraries/nccl/environment.hpp"
#include "lanewise/machine/machine.hpp"
#include "lanewise/planner/libraries/library.hpp"

namespace lanewise::nccl {

// From near to far, as in NCCL.
enum class PathType : std::uint8_t { Local, Nvl, Nvb, C2c, Pix, Pxb, P2c, Pxn, Phb, Sys, Net, Disconnected };
std::string_view to_string(PathType type);  // LOC, NVL, NVB, ...

// How two GPUs of a node exchange data.
enum class Transport : std::uint8_t { PeerToPeer, SharedMemory, Network };
std::string_view to_string(Transport transport);  // P2P, SHM, NET

struct Path {
  PathType type = PathType::Disconnected;
  double rate = 0;                   // of the narrowest link
  std::vector<std::uint32_t> links;  // each in one direction
  std::optional<std::size_t> relay;  // PXN, NVB: the GPU in between
};

enum class CpuVendor : std::uint8_t { Unknown, Intel, Amd, Arm, Power };

// The NICs of the hosts of these GPUs that work and are on the first network, as transfers prefer it.
std::vector<PciId> nics_of(Machine const& machine, std::vector<PciId> const& gpus);

// GB/s that NCCL counts between any two NUMA nodes of such CPUs (topo.cc).
double counted_between_sockets(Part const* part, Library const& library);

class Topology {
 public:
  // The node of these GPUs: a host, or the hosts that NVLink joins. `machine` must outlive it. NICs are those of its
  // hosts that are on the network. `between_sockets`: GB/s that NCCL is to count there instead of its constant.
  Topology(Machine const& machine, std::vector<PciId> gpus, Library const& library, Environment const& environment,
           std::optional<double> between_sockets = {});

  [[nodiscard]] std::vector<PciId> const& gpus() const { return gpus_; }
  [[nodiscard]] std::vector<PciId> const& nics() const { return nics_; }
  [[nodiscard]] Path const& between(std::size_t from, std::size_t to) const { return pairs_[from * gpus_.size() + to]; }
  [[nodiscard]] Path const& to_nic(std::size_t gpu, std::size_t nic) const {
    return to_nics_[gpu * nics_.size() + nic];
  }
  [[nodiscard]] Path const& from_nic(std::size_t nic, std::size_t gpu) const {
    return from_nics_[gpu * nics_.size() + nic];
  }
  // The NIC that a GPU uses by itself: of the fastest and nearest ones, each GPU another, and where there are more than
  // GPUs, each channel another (topo.cc: ncclTopoGetLocalNet).
  [[nodiscard]] std::size_t own_nic(std::size_t gpu, std::size_t channel = 0) const;
  // How many NICs are as fast and near to the GPU as the best.
  [[nodiscard]] std::size_t nearest_nics(std::size_t gpu) const { return nearest_nics_[gpu].size(); }
  [[nodiscard]] Transport transport(std::size_t from, std::size_t to) const {
    return transports_[from * gpus_.size() + to];
  }
  // Whether both GPUs reach a NIC near them faster than each other (paths.cc: ncclTopoCheckNet): among several nodes
  // NCCL then sends by NICs within the node too.
  [[nodiscard]] bool is_faster_by_nics(std::size_t from, std::size_t to) const;
  // By link and direction.
  [[nodiscard]] std::vector<double> const& capacities() const { return capacities_; }
  // Whether a link is PCIe, of which NCCL counts 6/5 of peer traffic through an Intel host bridge.
  [[nodiscard]] bool is_pci(std::uint32_t link) const { return pci_[link]; }

  [[nodiscard]] CpuVendor vendor() const { return vendor_; }
  [[nodiscard]] bool has_nvswitch() const { return has_nvswitch_; }
  // Ten times the lowest and the highest compute capability: 90.
  [[nodiscard]] int min_capability() const { return min_capability_; }
  [[nodiscard]] int max_capability() const { return max_capability_; }
  // The largest PCIe link or sum of NVLinks of any GPU, and the largest rate of a path to another GPU (to a NIC).
  [[nodiscard]] double total_rate() const { return total_rate_; }
  [[nodiscard]] double max_rate(bool to_nics) const { return to_nics ? max_nic_rate_ : max_gpu_rate_; }
  [[nodiscard]] PathType farthest_gpus() const;
  // What the NICs' plugin tells NCCL of a message between nodes; 0 where it tells nothing.
  [[nodiscard]] double plugin_latency_us() const { return plugin_latency_us_; }
  // Of NVLink: GPU to switch or GPU to GPU, and of one link. 0 without NVLink.
  [[nodiscard]] double nvlink_rate() const { return nvlink_rate_; }

 private:
  class Builder;
  [[nodiscard]] std::vector<std::size_t> find_nearest_nics(std::size_t gpu) const;

  Machine const& machine_;
  std::vector<PciId> gpus_, nics_;
  std::vector<std::size_t> devices_;                    // of each GPU, its number in its host
  std::vector<std::vector<std::size_t>> nearest_nics_;  // of each GPU
  std::vector<std::size_t> sharing_;                    // of each GPU, how many have the same nearest NICs
  std::vector<Path> pairs_, to_nics_, from_nics_;
  std::vector<Transport> transports_;
  std::vector<double> capacities_;
  std::vector<bool> pci_;
  CpuVendor vendor_ = CpuVendor::Unknown;
  bool has_nvswitch_ = false;
  int min_capability_ = 0, max_capability_ = 0;
  double total_rate_ = 0, max_gpu_rate_ = 0, max_nic_rate_ = 0, nvlink_rate_ = 0, plugin_latency_us_ = 0;
};

}  // namespace lanewise::nccl
