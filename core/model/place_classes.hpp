#pragma once
// Which pairs of places are alike: the same but for the nodes that they are on. What is chosen for one pair of a class
// and what it takes hold for every other pair of it, on that pair's own nodes. A cluster of N equal nodes has as many
// classes as one of two or three of them.
//
// Nodes are alike if their descriptions, resources and engines are equal but for their names. Two pairs of nodes are
// alike if their nodes are, and if the NICs of both share leaf switches in the same pattern.
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/machine/node_split.hpp"
#include "lanewise/machine/machine.hpp"
#include "lanewise/model/resources/resources.hpp"
#include "lanewise/rules/mechanism.hpp"

namespace lanewise {

// Equal for pairs that are alike.
struct PairClass {
  std::uint32_t relation = 0;  // what their nodes are to each other
  std::uint32_t from = 0;      // the places within their nodes
  std::uint32_t to = 0;
  friend auto operator<=>(PairClass const&, PairClass const&) = default;
};

}  // namespace lanewise

template <>
struct std::hash<lanewise::PairClass> {
  std::size_t operator()(lanewise::PairClass const& of) const noexcept {
    constexpr std::size_t kPrime = 1'099'511'628'211;  // of FNV-1a
    return ((of.relation * kPrime ^ of.from) * kPrime ^ of.to) * kPrime;
  }
};

namespace lanewise {

class PlaceClasses {
 public:
  // The nodes of a pair of places.
  struct Nodes {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };
  // A resource or an engine as every pair of a class has it: the number among those of one of its two nodes.
  struct Slot {
    enum class Of : std::uint8_t { From, To, Machine } of = Of::Machine;
    std::uint32_t number = 0;
  };

  enum class Likeness : std::uint8_t { Found, None };  // None: every pair is a class of its own
  PlaceClasses(Machine const& machine, Resources const& resources, Likeness likeness = Likeness::Found);

  [[nodiscard]] PairClass of(Place const& from, Place const& to) const;
  [[nodiscard]] Nodes nodes_of(Place const& from, Place const& to) const { return {node_of(from), node_of(to)}; }

  // The way of a pair on the first nodes as a pair of the same class on the others has it. Nullopt where it names
  // something on a third node.
  [[nodiscard]] std::optional<Way> moved(Way way, Nodes const& at, Nodes const& to) const;

  // Nullopt where the resource or engine belongs to a third node.
  [[nodiscard]] std::optional<Slot> slot_of(ResourceId id, Nodes const& at) const;
  [[nodiscard]] std::optional<Slot> slot_of(EngineId id, Nodes const& at) const;
  [[nodiscard]] ResourceId resource_at(Slot const& slot, Nodes const& at) const {
    if (slot.of == Slot::Of::Machine) return ResourceId(slot.number);
    return nodes_[slot.of == Slot::Of::From ? at.from : at.to].resources[slot.number];
  }
  // What belongs to a node: its own, then the uplinks of the switches above each of its NICs, up and down, in the same
  // order on nodes that are alike.
  [[nodiscard]] std::span<ResourceId const> resources_of(HostId host) const { return nodes_[index(host)].resources; }
  [[nodiscard]] std::span<EngineId const> engines_of(HostId host) const { return nodes_[index(host)].engines; }
  // Whether nodes can be told apart; the questions about single nodes need it.
  [[nodiscard]] bool has_nodes() const { return nodes_.size() > 1; }
  // Equal for nodes that are alike, with switches and domains above them that are.
  [[nodiscard]] std::uint32_t likeness_of(HostId host) const { return nodes_[index(host)].likeness; }
  // The number of a place among those of its node.
  [[nodiscard]] std::uint32_t within_node(Place const& place) const;
  [[nodiscard]] EngineId engine_at(Slot const& slot, Nodes const& at) const {
    if (slot.of == Slot::Of::Machine) return EngineId(slot.number);
    return nodes_[slot.of == Slot::Of::From ? at.from : at.to].engines[slot.number];
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // Of a NIC to its leaf: the NIC within its node, and where the cable is slower than the NIC, its rate.
  struct Cable {
    std::uint32_t nic = 0;
    std::optional<BytesPerSecond> rate;
    friend bool operator==(Cable const&, Cable const&) = default;
  };
  struct Node {
    std::size_t first_function = 0;
    std::size_t first_numa = 0;
    std::uint32_t kind = 0;               // equal for nodes that are alike
    std::uint32_t likeness = 0;           // equal where the switches and domains above are alike, too
    std::uint32_t variant = 0;            // equal for those that are on the same switches and domains, too
    std::vector<std::uint32_t> switches;  // of each NIC on the fabric: its switch, and those above it
    std::vector<std::uint32_t> domains;   // that its GPUs are in
    std::vector<Cable> cables;            // of its NICs
    std::vector<ResourceId> resources;    // its own, then the uplinks of its switches
    std::vector<EngineId> engines;
  };
  // The node and the number among its own.
  struct Owner {
    std::uint32_t node = kNone;
    std::uint32_t number = 0;
  };

  void make_one_node(Machine const& machine);
  void find_owners(Machine const& machine, Resources const& resources);
  [[nodiscard]] bool are_owned(Resources const& resources) const;
  void find_switch_classes(Machine const& machine, Resources const& resources);
  void find_switches(Machine const& machine, Resources const& resources, NodeSplit const& split);
  void find_domains(Machine const& machine);
  void find_kinds(Machine const& machine, Resources const& resources);
  [[nodiscard]] bool have_equal_resources(Resources const& resources, std::uint32_t a, std::uint32_t b) const;
  void find_likeness();
  void find_relations();
  [[nodiscard]] std::vector<std::uint32_t> pattern_of(Node const& from, Node const& to, bool is_same) const;

  [[nodiscard]] std::uint32_t node_of(Place const& place) const {
    auto const* id = std::get_if<PciId>(&place);
    return id != nullptr ? node_of_function_[index(*id)] : node_of_numa_[index(std::get<NumaId>(place))];
  }
  [[nodiscard]] std::uint32_t relation_of(std::uint32_t from, std::uint32_t to) const;
  template <class Id>
  bool move(std::optional<Id>& id, Nodes const& at, Nodes const& to) const;

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> node_of_function_;
  std::vector<std::uint32_t> node_of_numa_;
  std::vector<Owner> owner_of_resource_;
  std::vector<Owner> owner_of_engine_;
  std::vector<std::uint32_t> switch_class_;      // equal where the part and the capacity of the uplink are
  std::vector<std::uint32_t> domain_class_;      // equal where the parts are
  std::vector<std::uint32_t> variants_;          // one node of each
  std::vector<std::uint32_t> relations_;         // of two variants; empty where there are too many
  std::vector<std::uint32_t> relations_within_;  // of a node and itself, by variant
};

}  // namespace lanewise
