#pragma once
// Which NICs carry a transfer between nodes.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/path_class.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The NICs of two nodes by name. Throws InputError unless each is a NIC of its place's node.
std::pair<PciId, PciId> named_nics(Machine const& machine, Place const& from, Place const& to,
                                   std::string const& nic_from, std::string const& nic_to);

class NicSelection {
 public:
  // `machine` must outlive it.
  explicit NicSelection(Machine const& machine) : machine_(machine) {}

  // Pairs of a NIC of each node, preferred ones first, at most four: of the first network that joins any. Proposed are
  // the nearest NICs of the same rail on both sides, the nearest NIC of each side with the one of its rail on the
  // other, and the nearest two. Nullopt if the nodes have no network in common; empty if no cable joins any such pair.
  [[nodiscard]] std::optional<std::vector<std::pair<PciId, PciId>>> nic_pairs(Place const& from, Place const& to) const;

  // The GPU nearest to a NIC of those that have NVLink to `gpu` and are nearer to the NIC than it.
  [[nodiscard]] std::optional<PciId> relay_for(PciId gpu, PciId nic) const;

 private:
  struct RailNic {
    PciId nic{};
    PathClass distance{};
    std::optional<int> rail;
  };
  [[nodiscard]] std::vector<RailNic> nics_of(Place const& place, std::uint32_t network) const;
  [[nodiscard]] std::vector<std::pair<PciId, PciId>> pairs_of(std::vector<RailNic> const& sources,
                                                              std::vector<RailNic> const& targets) const;
  void rotate_nearest(PciId gpu, std::vector<RailNic>& nics) const;
  [[nodiscard]] std::ptrdiff_t gpus_before(PciId gpu, RailNic const& nic, std::vector<RailNic> const& nics) const;
  [[nodiscard]] bool has_nearer(PciId gpu, RailNic const& than, std::vector<RailNic> const& nics) const;

  Machine const& machine_;
};

}  // namespace lanewise
