#pragma once
// Which GPUs of a plan map one another's memory over PCIe, where a GPU may map only so many peers (P2P-PEER-LIMIT).
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "lanewise/machine/machine.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {

using PeerPair = std::pair<PciId, PciId>;

// The two GPUs of data that go from one to another; nullopt where either place is no GPU, or both are one.
std::optional<PeerPair> gpus_between(Machine const& machine, Place const& from, Place const& to);

class PeerMappings {
 public:
  explicit PeerMappings(Machine const& machine) : machine_(machine) {}

  // Maps pairs as long as both have room. The nearest go first, for their data use the fewest links that others need;
  // of those equally near the first ones, so that all GPUs have about equally many.
  void add(std::span<PeerPair const> pairs);

  [[nodiscard]] bool has(PeerPair const& pair) const;
  // How many other peers each of the two maps.
  [[nodiscard]] MappedPeers besides(PeerPair const& pair) const;

 private:
  [[nodiscard]] bool has_room(PciId gpu) const;
  [[nodiscard]] int count(PciId gpu, PciId but) const;

  Machine const& machine_;
  std::map<PciId, std::set<PciId>> peers_;
};

// Whether a GPU that may map only so many peers is in more of these pairs with GPUs of its host.
bool need_more_mappings(Machine const& machine, std::span<PeerPair const> pairs);

}  // namespace lanewise
