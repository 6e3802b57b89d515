#include "core/interop/fabrics/fabric_cluster.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/io/yaml_writer.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

using Tree = nlohmann::ordered_json;

struct Attachment {
  std::string device;    // "mlx5_5"
  std::size_t leaf = 0;  // the switch, into IbFabric::nodes
  std::optional<BytesPerSecond> rate;
};
struct FabricHost {
  std::string name;
  std::vector<Attachment> nics;  // by the devices' names
};

// mlx5_2 before mlx5_10.
bool names_ascend(std::string const& a, std::string const& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

class ClusterMaker {
 public:
  ClusterMaker(IbFabric const& fabric, std::string name, std::string machine, Catalogue& catalogue)
      : fabric_(fabric), name_(std::move(name)), machine_name_(std::move(machine)), catalogue_(catalogue) {
    cluster_.notes = fabric.notes;
  }

  FabricCluster make() {
    collect_hosts();
    check_machine();
    order_hosts();
    Tree tree{{"lanewise", "cluster/1"}, {"cluster", name_}};
    Tree fabric = describe_fabric();
    note(
        fmt::format("{} hosts, {} switches and {} cables are in the fabric; nodes are in the order of their leaf "
                    "switches, then of their names",
                    hosts_.size(), switches(), fabric_.cables.size()));
    note(fmt::format("that the nodes are '{}' is what the command said; the fabric shows only their adapters",
                     machine_name_));
    tree["notes"] = cluster_.notes;
    tree["nodes"] = Tree::array({{{"machine", machine_name_}, {"count", hosts_.size()}}});
    tree["fabric"] = std::move(fabric);
    cluster_.yaml = yaml_text(tree);
    cluster_.json = tree.dump(2) + "\n";
    return std::move(cluster_);
  }

 private:
  void note(std::string text) { cluster_.notes.push_back(std::move(text)); }
  [[nodiscard]] bool is_switch(std::size_t node) const { return fabric_.nodes[node].kind == IbKind::Switch; }
  [[nodiscard]] std::size_t switches() const {
    return static_cast<std::size_t>(std::count_if(fabric_.nodes.begin(), fabric_.nodes.end(),
                                                  [](auto const& n) { return n.kind == IbKind::Switch; }));
  }

  // Host and device of "host mlx5_0"; adapters that only name their product have none.
  static std::pair<std::string, std::string> split(std::string const& description) {
    auto const blank = description.find_last_of(" \t");
    if (blank == std::string::npos) return {};
    auto host = std::string(trimmed(description.substr(0, blank), " \t'"));
    for (auto const* word : {"Mellanox", "ConnectX", "MT4", "MT2", "HCA-1 HCA", "Aggregation", "Infiniscale"})
      if (host.find(word) != std::string::npos) return {};
    return {host, description.substr(blank + 1)};
  }

  void collect_hosts() {
    std::map<std::string, FabricHost> hosts;
    std::set<std::size_t> unnamed;
    for (auto const& cable : fabric_.cables)
      for (auto const& [adapter, other] : {std::pair(cable.a, cable.b), std::pair(cable.b, cable.a)}) {
        auto const& node = fabric_.nodes[adapter];
        if (node.kind != IbKind::Adapter) continue;
        if (node.description.find("Aggregation Node") != std::string::npos) continue;  // a switch's own
        auto const [host, device] = split(node.description);
        if (host.empty()) {
          unnamed.insert(adapter);
          continue;
        }
        auto& entry = hosts[host];
        entry.name = host;
        entry.nics.push_back({device, other, cable.rate});
      }
    if (!unnamed.empty())
      note(fmt::format("{} adapters name only their product and no host; they are left out", unnamed.size()));
    if (hosts.empty())
      throw InputError("no cable leads to an adapter that names its host (\"HOST mlx5_0\"); nothing becomes a node");
    for (auto& [name, host] : hosts) {
      std::sort(host.nics.begin(), host.nics.end(),
                [](Attachment const& a, Attachment const& b) { return names_ascend(a.device, b.device); });
      hosts_.push_back(std::move(host));
    }
  }

  void check_machine() {
    auto const machine = catalogue_.machine(machine_name_);
    if (machine.hosts.size() != 1)
      throw InputError(fmt::format("'{}' is a cluster; name the machine of one node", machine_name_));
    for (auto const id : machine.all(PciKind::Nic)) {
      auto const* part = machine.part_of(id);
      if (part == nullptr || part->nic.rdma) nics_.push_back(machine.at(id).name);
    }
    std::map<std::size_t, std::size_t> sizes;
    for (auto const& host : hosts_) ++sizes[host.nics.size()];
    width_ = std::max_element(sizes.begin(), sizes.end(), [](auto const& a, auto const& b) {
               return a.second < b.second;
             })->first;
    if (nics_.size() < width_)
      throw InputError(
          fmt::format("hosts of the fabric have {} adapters, '{}' has {} RDMA NICs; name another machine "
                      "with --machine",
                      width_, machine_name_, nics_.size()));
    auto const other =
        std::count_if(hosts_.begin(), hosts_.end(), [&](auto const& h) { return h.nics.size() != width_; });
    if (other > 0)
      note(fmt::format("{} hosts have another number of adapters than the {} of most; they are left out", other,
                       width_));
    std::erase_if(hosts_, [&](FabricHost const& host) { return host.nics.size() != width_; });
  }

  void order_hosts() {
    auto const leaf_name = [&](FabricHost const& host) {
      auto const& node = fabric_.nodes[host.nics.front().leaf];
      return std::pair(node.description, node.guid);
    };
    std::stable_sort(hosts_.begin(), hosts_.end(), [&](FabricHost const& a, FabricHost const& b) {
      auto const x = leaf_name(a);
      auto const y = leaf_name(b);
      return x != y ? x < y : names_ascend(a.name, b.name);
    });
  }

  [[nodiscard]] bool one_leaf_a_host() const {
    return std::all_of(hosts_.begin(), hosts_.end(), [](FabricHost const& host) {
      return std::all_of(host.nics.begin(), host.nics.end(),
                         [&](Attachment const& nic) { return nic.leaf == host.nics.front().leaf; });
    });
  }

  Tree describe_fabric() {
    std::set<std::size_t> leaves;
    for (auto const& host : hosts_)
      for (auto const& nic : host.nics) leaves.insert(nic.leaf);
    bool const direct = std::none_of(leaves.begin(), leaves.end(), [&](std::size_t leaf) { return is_switch(leaf); });
    Tree tree;
    if (direct && hosts_.size() == 2) {
      tree["kind"] = "direct";
    } else if (direct) {
      throw InputError("hosts of the fabric are cabled to each other without a switch, and are not two");
    } else if (leaves.size() == 1) {
      tree["kind"] = "single_switch";
    } else {
      bool const rails = !one_leaf_a_host();
      tree["kind"] = rails ? "rail_optimised" : "leaf_spine";
      tree["nodes_per_leaf"] = group_size(rails);
      describe_uplinks(leaves, tree);
    }
    if (nics_.size() > width_)
      tree["nics"] = std::vector<std::string>(nics_.begin(), nics_.begin() + static_cast<long>(width_));
    if (auto part = switch_part(leaves); !part.empty()) tree["switch"] = part;
    add_slow_cables(tree);
    return tree;
  }

  // Consecutive hosts whose adapters go to the same leaves.
  std::size_t group_size(bool rails) {
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      bool const same = i > 0 && hosts_[i].nics.front().leaf == hosts_[i - 1].nics.front().leaf;
      if (same)
        ++sizes.back();
      else
        sizes.push_back(1);
    }
    auto const most = *std::max_element(sizes.begin(), sizes.end());
    if (std::any_of(sizes.begin(), sizes.end() - 1, [&](std::size_t size) { return size != most; }))
      note(
          fmt::format("leaves have different numbers of hosts ({}); {} each is taken, so nodes near the border between "
                      "two leaves may be on the other",
                      fmt::join(sizes, ", "), most));
    std::size_t astray = 0;
    for (std::size_t i = 1; i < hosts_.size(); ++i)
      if (hosts_[i].nics.front().leaf == hosts_[i - 1].nics.front().leaf)
        for (std::size_t k = 0; k < width_; ++k) astray += hosts_[i].nics[k].leaf != hosts_[i - 1].nics[k].leaf;
    if (rails && astray > 0) note(fmt::format("{} adapters are on another leaf than that of their rail", astray));
    return most;
  }

  void describe_uplinks(std::set<std::size_t> const& leaves, Tree& tree) {
    std::map<std::size_t, std::size_t> cables;
    std::set<std::string> speeds;
    for (auto const leaf : leaves) cables[leaf] = 0;
    for (auto const& cable : fabric_.cables) {
      if (!is_switch(cable.a) || !is_switch(cable.b)) continue;
      for (auto const end : {cable.a, cable.b})
        if (cables.contains(end)) ++cables[end];
      if (!cable.speed.empty()) speeds.insert(cable.speed);
      if (cable.rate) uplink_rate_ = cable.rate;
    }
    std::set<std::size_t> counts;
    for (auto const& [leaf, count] : cables) counts.insert(count);
    auto const fewest = *counts.begin();
    if (counts.size() > 1)
      note(fmt::format("leaves have {} cables to other switches; the fewest are taken for all",
                       fmt::join(counts, ", ")));
    if (speeds.size() > 1)
      note(fmt::format("cables between switches run at {}; the last is taken for all", fmt::join(speeds, ", ")));
    if (fewest == 0) {
      note("some leaf has no cable to another switch: the fabric is in pieces, or the file is not whole");
      return;
    }
    tree["uplinks"] = fewest;
    if (uplink_rate_) tree["uplink_rate"] = exact_text(*uplink_rate_);
  }

  // By the rate of most cables, and the maker's description of the leaves.
  std::string switch_part(std::set<std::size_t> const& leaves) {
    for (auto const leaf : leaves) {
      auto const& about = fabric_.nodes[leaf].description;
      if (about.find("MQM97") != std::string::npos) return "quantum-2-ndr";
      if (about.find("MQM87") != std::string::npos || about.find("MCS85") != std::string::npos) return "quantum-hdr";
    }
    note("the switches' product is not recognised; add 'switch' for its latency");
    return {};
  }

  void add_slow_cables(Tree& tree) {
    std::map<double, std::size_t> rates;
    for (auto const& host : hosts_)
      for (auto const& nic : host.nics)
        if (nic.rate) ++rates[nic.rate->value()];
    if (rates.size() < 2) return;
    auto const fastest = rates.rbegin()->first;
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      for (std::size_t k = 0; k < width_; ++k)
        if (auto const& rate = hosts_[i].nics[k].rate; rate && rate->value() < fastest)
          tree["link_overrides"].push_back(
              {{"nic", fmt::format("node{}/{}", i, nics_[k])}, {"rate", exact_text(*rate)}});
    note("cables that run slower than the fastest are in link_overrides");
  }

  IbFabric const& fabric_;
  std::string name_, machine_name_;
  Catalogue& catalogue_;
  std::vector<FabricHost> hosts_;
  std::vector<std::string> nics_;  // of the machine
  std::size_t width_ = 0;          // adapters of a host
  std::optional<BytesPerSecond> uplink_rate_;
  FabricCluster cluster_;
};

}  // namespace

FabricCluster cluster_of(IbFabric const& fabric, std::string const& name, std::string const& machine_name,
                         Catalogue& catalogue) {
  return ClusterMaker(fabric, name, machine_name, catalogue).make();
}

}  // namespace lanewise
