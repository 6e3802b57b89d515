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

// Whether a GPU is in more of these pairs with GPUs of its host than it may map.
bool exceed_peer_limit(Machine const& machine, std::span<PeerPair const> pairs);
// Whether pairs of these GPUs could do that.
bool may_exceed_peer_limit(Machine const& machine, std::span<Place const> places);

class PeerMappings {
 public:
  explicit PeerMappings(Machine const& machine) : machine_(machine) {}

  // Maps pairs while both GPUs have room. The nearest (path_class) go first, for their data use the fewest links that
  // others need. Of those equally near only GPUs with fewer than k mappings are joined in round k, in the order given,
  // so that all get about equally many.
  void add(std::span<PeerPair const> pairs);

  [[nodiscard]] bool has(PeerPair const& pair) const;
  // What else the two map, as the rules see it: a pair that is not mapped finds no room for it.
  [[nodiscard]] MappedPeers besides(PeerPair const& pair) const;

 private:
  [[nodiscard]] bool has_room(PciId gpu) const;
  [[nodiscard]] int count(PciId gpu, PciId but) const;

  Machine const& machine_;
  std::map<PciId, std::set<PciId>> peers_;
};

}  // namespace lanewise
