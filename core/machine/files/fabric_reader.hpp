#pragma once
// Reads one fabric of a cluster file. Only for the reader of cluster files.
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/yaml.hpp"
#include "core/machine/files/part_table.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

class FabricReader {
 public:
  // The cluster has all its nodes. The name is empty where a cluster has only one fabric, which then joins all nodes.
  FabricReader(MapReader& reader, PartTable& parts, Machine& cluster, std::string name)
      : reader_(reader), parts_(parts), cluster_(cluster) {
    network().name = std::move(name);
  }

  // A fabric of one network. Sets the rails of its NICs, and adds parts to the cluster. What is wrong is reported; then
  // there may be none.
  std::optional<Fabric> read();

 private:
  // One tier of a fabric in which every switch, or group of switches, has one group above it.
  struct Tier {
    std::string name;
    std::optional<PartId> part = {};
    std::size_t joins = 0;  // nodes, or groups of the tier below; 0: all
    int count = 1;          // switches of a group; 0: unknown
    std::optional<int> uplinks = {};
    std::optional<BytesPerSecond> uplink_rate = {};
    std::optional<double> oversubscription = {};
    YamlNode const* node = nullptr;
  };
  // What goes up from a switch: in all, and the rate of one cable.
  struct Below {
    BytesPerSecond total{0};
    BytesPerSecond one{0};
  };

  [[nodiscard]] Fabric::Network& network() { return fabric_.networks.front(); }
  [[nodiscard]] Fabric::Network const& network() const { return fabric_.networks.front(); }

  // fabric_reader.cpp
  void read_nics();
  void check_nodes();
  void read_routing();
  void read_shape();
  void set_rails();
  std::optional<PartId> switch_part(MapReader& reader, std::string_view key);
  std::size_t nodes_per_leaf(std::size_t otherwise);
  [[nodiscard]] BytesPerSecond fastest_nic() const;
  void read_link_override(MapReader& reader);
  void check_keys();
  void attach_second_functions();

  // tiered_fabric.cpp: direct, single_switch, leaf_spine, rail_optimised, rail_only, fat_tree
  void read_tiered();
  std::vector<Tier> tiers_of_kind();
  std::vector<Tier> tiers_of_list();
  Tier read_tier(MapReader& reader, bool is_lowest);
  void check_uplinks(Tier const& tier, bool is_top);
  void attach_leaves(Tier const& tier);
  [[nodiscard]] std::optional<std::size_t> plane_name(std::size_t plane) const;
  [[nodiscard]] std::optional<BytesPerSecond> rate_of_cable(PciId nic, std::uint32_t at) const;
  void add_tier(Tier const& lower, Tier const& tier, std::size_t tier_number, bool is_top);
  void add_uplinks(std::uint32_t lower, std::uint32_t upper, Tier const& tier);
  [[nodiscard]] Below below(std::uint32_t of) const;

  // switch_graph.cpp: torus, dragonfly, graph
  void read_torus();
  void read_dragonfly();
  void read_graph();
  void check_attached();
  bool attach_nodes(std::vector<std::string> const& names);
  void add_cables(std::uint32_t a, std::uint32_t b, int cables, BytesPerSecond one);
  void read_switches(MapReader& reader);
  void attach_named(MapReader& reader, std::string const& nic, std::uint32_t at);
  void read_link(MapReader& reader);
  void order_switches();

  MapReader& reader_;
  PartTable& parts_;
  Machine& cluster_;
  Fabric fabric_{{{}}, {}, {}, {}};
  std::vector<std::vector<PciId>> nics_;  // those on the fabric, by node
  std::vector<std::size_t> nodes_;        // that have such NICs
  bool by_rail_ = false;                  // each rail has leaf switches of its own
  bool joins_rails_ = true;               // higher tiers join the rails
  std::vector<std::size_t> group_of_;     // of each switch: its number among those of its tier and rail
  std::vector<int> rail_of_;              // of each switch, where rails have their own
  std::vector<std::size_t> plane_of_;     // of each switch
};

}  // namespace lanewise
