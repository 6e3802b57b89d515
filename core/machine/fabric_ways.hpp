#pragma once
// The ways through a fabric's switches: the shortest, by the number of switches, or two of them by way of another
// group.
#include <cstdint>
#include <optional>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Of Fabric::flows_per_pair.
inline constexpr int kMaxFlowsPerPair = 16;

// The share of the traffic that takes a trunk, and in which direction.
struct TrunkUse {
  std::uint32_t trunk = 0;
  bool up = true;  // from its lower end to its upper end
  double share = 1;
  friend bool operator==(TrunkUse const&, TrunkUse const&) = default;
};

struct FabricWay {
  std::vector<TrunkUse> uses;         // each trunk and direction once
  std::vector<std::uint32_t> passed;  // the switches of one of the ways, from the first to the last
};

// Whether cables join two switches of a fabric. For a single question: FabricWays answers many.
bool are_joined(Fabric const& fabric, std::uint32_t a, std::uint32_t b);
// Whether both NICs are on the fabric, and a cable or switches join them.
bool are_joined(Machine const& machine, PciId nic, PciId other);

// Whether each flow keeps to one cable of a trunk. A torus always spreads over them.
inline bool is_by_cable(Fabric::Network const& network) {
  return network.kind != "torus" && (network.routing == Routing::Static || network.routing == Routing::Ecmp);
}

class FabricWays {
 public:
  explicit FabricWays(Fabric const& fabric);

  // Whether every switch has at most one trunk to a higher tier, and none to its own: then there is one way.
  [[nodiscard]] bool is_tree() const { return is_tree_; }
  // The trunk to a higher tier, of a tree.
  [[nodiscard]] std::optional<std::uint32_t> trunk_above(std::uint32_t of) const { return above_[of]; }
  // The number of an attachment among those of its switch: what tables of static routing go by.
  [[nodiscard]] std::uint32_t rank_of(std::size_t attachment) const { return rank_[attachment]; }
  // The number of a switch that cables join it with, equal for all that are joined.
  [[nodiscard]] std::uint32_t island_of(std::uint32_t at) const { return island_[at]; }
  // What capacities and weights of a network's cables and ports are multiplied by in the model, so that the parts of a
  // flow that take one of many ways are not below the resolution of weights.
  [[nodiscard]] double weight_scale(std::uint32_t network) const { return choices_[network].weight_scale; }
  // From one switch to another. Where several ways are equally short, adaptive routing divides the traffic at each
  // switch by what its cables carry; any other takes one of the ways, by `choice`. Valiant's goes from group to group
  // by way of all switches of the others, evenly. Nullopt where no cables join the two.
  [[nodiscard]] std::optional<FabricWay> between(std::uint32_t from, std::uint32_t to, std::uint64_t choice = 0) const;

 private:
  struct Neighbour {
    std::uint32_t at = 0;
    std::uint32_t trunk = 0;
    bool up = true;   // the trunk leads to its upper end
    double rate = 0;  // bytes/s
  };
  void find_islands();
  void find_weight_scales(Fabric const& fabric);
  [[nodiscard]] FabricWay way_of_tree(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] FabricWay shortest(std::uint32_t from, std::uint32_t to, std::uint64_t choice) const;
  [[nodiscard]] std::optional<FabricWay> by_other_groups(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] std::vector<int> distances_to(std::uint32_t to) const;
  [[nodiscard]] std::vector<Neighbour> nearer_than(std::uint32_t at, std::vector<int> const& distance) const;

  // How a network divides what may take several ways.
  struct Choice {
    bool spreads = true;           // over ways of equal length
    bool is_by_dimension = false;  // a torus: of several ways the first, in the order of its dimensions
    bool is_valiant = false;
    double weight_scale = 1;
  };
  std::vector<Choice> choices_;         // by network
  std::vector<std::uint32_t> network_;  // by switch
  std::vector<int> group_;              // by switch
  bool is_tree_ = true;
  std::vector<std::optional<std::uint32_t>> above_;  // the trunk above a switch
  std::vector<std::uint32_t> parent_;                // the switch above it
  std::vector<int> tier_;
  std::vector<std::uint32_t> rank_;    // by attachment
  std::vector<std::uint32_t> island_;  // equal for switches that are joined
  std::vector<std::vector<Neighbour>> neighbours_;
};

}  // namespace lanewise
