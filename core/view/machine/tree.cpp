#include "core/view/machine/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "core/machine/end_name.hpp"
#include "core/machine/nic_port.hpp"
#include "core/machine/nic_rate.hpp"
#include "core/machine/node_kinds.hpp"
#include "core/model/resources/figures.hpp"
#include "core/text/table.hpp"
#include "core/view/machine/words.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

enum TreeColumn : std::size_t { kName, kPart, kAddress, kLink, kAcs, kNuma, kDetails, kColumns };
using TreeRow = std::array<std::string, kColumns>;
constexpr std::array<std::string_view, kColumns> kTreeHeader{"",          "part", "address", "link",
                                                             "ACS above", "NUMA", "details"};

// The rows below one line of the tree, drawn when all are known.
struct Branch {
  TreeRow row;
  std::vector<Branch> below;
};

// An aligned table of sockets, host bridges, ports and devices; its first column is the tree.
class DeviceTree {
 public:
  explicit DeviceTree(Machine const& machine) : machine_(machine) {}

  std::string text() {
    for (std::size_t i = 0; i < machine_.sockets.size(); ++i) {
      auto const branch = socket(SocketId(i));
      rows_.push_back(branch.row);
      draw_below(branch, "");
    }
    return table();
  }

 private:
  [[nodiscard]] Branch socket(SocketId id) const {
    Branch branch;
    branch.row[kName] = machine_.at(id).name;
    branch.row[kPart] = part_words(machine_, id);
    for (auto const& numa : machine_.numa_nodes)
      if (numa.socket == id) branch.below.push_back(memory(numa));
    for (std::size_t i = 0; i < machine_.host_bridges.size(); ++i)
      if (machine_.host_bridges[i].socket == id) branch.below.push_back(host_bridge(HostBridgeId(i)));
    return branch;
  }

  static Branch memory(NumaNode const& numa) {
    Branch branch;
    branch.row[kName] = numa.name;
    branch.row[kPart] = numa.cores.empty() ? "memory" : fmt::format("memory, cores {}", numa.cores);
    branch.row[kNuma] = fmt::format("{}", numa.os_index);
    return branch;
  }

  [[nodiscard]] Branch host_bridge(HostBridgeId id) const {
    Branch branch;
    branch.row[kName] = machine_.at(id).name;
    branch.row[kPart] = "host bridge";
    branch.row[kNuma] = fmt::format("{}", machine_.at(machine_.at(id).numa).os_index);
    for (std::size_t i = 0; i < machine_.functions.size(); ++i)
      if (machine_.functions[i].host_bridge == id && !machine_.functions[i].parent)
        branch.below.push_back(function(PciId(i)));
    return branch;
  }

  [[nodiscard]] Branch function(PciId id) const {
    auto const& f = machine_.at(id);
    Branch branch;
    branch.row[kName] = f.name;
    branch.row[kPart] = part_words(machine_, id);
    branch.row[kAddress] = f.bdf;
    branch.row[kLink] = link_words(machine_, id);
    if (f.parent) branch.row[kAcs] = to_string(machine_.acs_above(id));
    branch.row[kNuma] = fmt::format("{}", machine_.at(machine_.numa_of(id)).os_index);
    branch.row[kDetails] = details(id);
    for (std::size_t i = index(id) + 1; i < machine_.functions.size(); ++i)
      if (machine_.functions[i].parent == id) branch.below.push_back(function(PciId(i)));
    return branch;
  }

  [[nodiscard]] std::string details(PciId id) const {
    auto const& f = machine_.at(id);
    std::vector<std::string> words;
    if (!f.chip.empty()) words.push_back("chip " + f.chip);
    if (machine_.is_off(id)) words.emplace_back("off");
    if (f.mig) words.emplace_back("MIG");
    if (!f.device_name.empty()) words.push_back(f.device_name);
    if (f.rate) words.push_back(exact_text(*f.rate));
    if (!f.port_of.empty()) words.push_back(fmt::format("port of {}", short_name(f.port_of)));
    if (f.rail) words.push_back(fmt::format("rail {}", *f.rail));
    if (auto const* part = machine_.part_of(id); f.kind == PciKind::Gpu && part != nullptr)
      if (auto const engines = figures::copy_engines(part); engines.assumed)
        words.push_back(fmt::format("{} copy engines assumed ({} to {})", engines.count, engines.low, engines.high));
    return fmt::format("{}", fmt::join(words, ", "));
  }

  void draw_below(Branch const& branch, std::string const& indent) {
    for (std::size_t i = 0; i < branch.below.size(); ++i) {
      bool const last = i + 1 == branch.below.size();
      auto row = branch.below[i].row;
      row[kName] = indent + (last ? "└─ " : "├─ ") + row[kName];
      rows_.push_back(std::move(row));
      draw_below(branch.below[i], indent + (last ? "   " : "│  "));
    }
  }

  // Leaves out empty columns.
  [[nodiscard]] std::string table() const {
    std::array<bool, kColumns> used{};
    for (auto const& row : rows_)
      for (std::size_t i = 0; i < kColumns; ++i) used[i] = used[i] || !row[i].empty();
    auto const kept = [&](auto const& row) {
      std::vector<std::string> cells;
      for (std::size_t i = 0; i < kColumns; ++i)
        if (used[i]) cells.emplace_back(row[i]);
      return cells;
    };
    Table table(kept(kTreeHeader));
    for (auto const& row : rows_) table.add(kept(row));
    return table.text();
  }

  Machine const& machine_;
  std::vector<TreeRow> rows_;
};

// A heading with indented lines; empty if there are no lines.
std::string section(std::string_view heading, std::string const& lines) {
  if (lines.empty()) return "";
  std::string out = fmt::format("\n{}:\n", heading);
  for (std::size_t start = 0; start < lines.size();) {
    auto const end = lines.find('\n', start);
    out += "  " + lines.substr(start, end - start) + "\n";
    start = end + 1;
  }
  return out;
}

std::string pair_words(std::string_view a, std::string_view b) { return fmt::format("{} -- {}", a, b); }

// "gpu0..gpu7, NVLink 4 x18 each": a line for GPUs with equally many links.
std::string ports_words(Machine const& machine, NvSwitch const& domain) {
  std::vector<std::string> words;
  for (auto first = domain.ports.begin(); first != domain.ports.end();) {
    auto const last =
        std::find_if(first, domain.ports.end(), [&](auto const& port) { return port.count != first->count; });
    std::vector<std::string> names;
    for (auto port = first; port != last; ++port) names.push_back(machine.at(port->gpu).name);
    words.push_back(
        fmt::format("{}, {} each", condensed(names), bonded_words(machine.at(domain.link_part), first->count)));
    first = last;
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

std::string nvlink_lines(Machine const& machine) {
  Table pairs({});
  for (auto const& bundle : machine.nvlinks)
    pairs.add({pair_words(end_name(machine, bundle.a), end_name(machine, bundle.b)),
               bonded_words(machine.at(bundle.part), bundle.count)});
  Table domains({});
  for (auto const& domain : machine.nvswitches)
    domains.add({domain.name, title_of(machine.at(domain.part)), ports_words(machine, domain)});
  return pairs.text() + domains.text();
}

std::string socket_link_lines(Machine const& machine) {
  Table table({});
  for (auto const& link : machine.socket_links)
    table.add({pair_words(machine.at(link.a).name, machine.at(link.b).name),
               fmt::format("{} x{}", title_of(machine.at(link.part)), link.count)});
  return table.text();
}

std::string override_lines(Machine const& machine) {
  Table table({});
  for (auto const& entry : machine.overrides)
    table.add({fmt::format("{} -> {}", machine.name_of(entry.from), machine.name_of(entry.to)),
               std::string(entry.op ? to_string(*entry.op) : "every op"),
               entry.bandwidth ? exact_text(*entry.bandwidth) : "", entry.latency ? exact_text(*entry.latency) : "",
               entry.source});
  return table.text();
}

std::string note_lines(Machine const& machine) {
  constexpr std::size_t kWidest = 110;
  std::string lines;
  for (auto const& note : machine.notes) {
    std::string mark = "- ";
    auto const text = wrapped(note, kWidest) + "\n";
    for (std::size_t start = 0; start < text.size(); mark = "  ") {
      auto const end = text.find('\n', start);
      lines += mark + text.substr(start, end - start) + "\n";
      start = end + 1;
    }
  }
  return lines;
}

// What the figures of the parts rest on: a line for each part.
std::string source_lines(Machine const& machine) {
  Table table({});
  table.align_left(1);
  for (auto const& part : machine.parts) {
    std::array<int, 3> counts{};
    std::vector<std::string> estimated;
    for (auto const& source : part.sources) {
      ++counts.at(static_cast<std::size_t>(source.kind));
      if (source.kind == SourceKind::Estimated) estimated.push_back(source.figure);
    }
    std::vector<std::string> words;
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts.at(i) > 0) words.push_back(fmt::format("{} {}", counts.at(i), to_string(static_cast<SourceKind>(i))));
    auto text = words.empty() ? std::string("no source") : fmt::format("{}", fmt::join(words, ", "));
    if (!estimated.empty()) text += fmt::format(": {}", fmt::join(estimated, ", "));
    table.add({part.name, std::move(text)});
  }
  return table.text();
}

std::string node_text(Machine const& node) {
  return fmt::format("settings: {}\n\n", settings_words(node.hosts.front().settings)) + DeviceTree(node).text() +
         section("NVLink", nvlink_lines(node)) + section("Socket links", socket_link_lines(node)) +
         section("Measured figures", override_lines(node)) +
         section("Software", software_words(node.hosts.front().software) + "\n") +
         section("Figures of parts", source_lines(node));
}

std::string title_line(Machine const& machine) {
  return machine.name + (machine.title.empty() ? "" : ": " + machine.title) + "\n";
}

// "node0..node31: nic0" for every NIC name on a leaf, ordered by the first node.
std::string attached_words(Machine const& machine, std::uint32_t leaf) {
  std::vector<std::pair<std::string, std::vector<HostId>>> by_name;
  for (auto const& attachment : machine.fabric->attachments) {
    if (attachment.at != leaf) continue;
    std::string const name(short_name(machine.at(attachment.nic).name));
    auto found = std::find_if(by_name.begin(), by_name.end(), [&](auto const& entry) { return entry.first == name; });
    if (found == by_name.end()) found = by_name.insert(found, {name, {}});
    found->second.push_back(machine.host_of(attachment.nic));
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> by_hosts;
  for (auto const& [name, hosts] : by_name) {
    auto const nodes = host_names(machine, hosts);
    if (by_hosts.empty() || by_hosts.back().first != nodes) by_hosts.push_back({nodes, {}});
    by_hosts.back().second.push_back(name);
  }
  std::vector<std::string> words;
  for (auto const& [nodes, names] : by_hosts) words.push_back(fmt::format("{}: {}", nodes, condensed(names)));
  return fmt::format("{}", fmt::join(words, "; "));
}

// One line for all switches of a tier that have equally fast uplinks and equally many NICs, in the order of the first.
void add_alike(Machine const& machine, std::uint32_t network, Table& table) {
  struct Alike {
    std::tuple<int, int, std::string, std::size_t> key;  // tier, switches that act as one, uplinks, NICs
    std::string first, last;
    std::size_t count = 0;
  };
  auto const& fabric = *machine.fabric;
  std::vector<std::size_t> nics(fabric.switches.size(), 0);
  for (auto const& attachment : fabric.attachments) ++nics[attachment.at];
  std::vector<Alike> all;
  for (std::uint32_t i = 0; i < fabric.switches.size(); ++i) {
    auto const& one = fabric.switches[i];
    if (one.network != network) continue;
    auto const uplink = fabric.uplink(i);
    std::tuple const key(one.tier, one.count, uplink ? "uplinks " + rounded_text(*uplink) : std::string(), nics[i]);
    auto found = std::find_if(all.begin(), all.end(), [&](Alike const& alike) { return alike.key == key; });
    if (found == all.end()) found = all.insert(found, {key, one.name, {}, 0});
    found->last = one.name;
    ++found->count;
  }
  for (auto const& [key, first, last, count] : all) {
    auto const& [tier, together, uplinks, below] = key;
    auto const members = together > 1 ? fmt::format(" ({} switches{})", together, count > 1 ? " each" : "") : "";
    table.add({(count > 1 ? fmt::format("{} alike, {} to {}", count, first, last) : first) + members, uplinks,
               below > 0 ? fmt::format("{} NICs{}", below, count > 1 ? " each" : "") : ""});
  }
}

std::string network_lines(Machine const& machine, std::uint32_t number) {
  auto const& fabric = *machine.fabric;
  auto const& network = fabric.networks[number];
  bool const direct = network.kind == "direct";
  bool const in_full = fabric.switches.size() <= kMaxSwitchesInFull;
  Table switches({});
  if (!in_full) add_alike(machine, number, switches);
  std::optional<PartId> part;
  for (std::uint32_t i = 0; i < fabric.switches.size(); ++i) {
    auto const& one = fabric.switches[i];
    if (one.network != number) continue;
    if (!part) part = one.part;
    if (!in_full) continue;
    auto const uplink = fabric.uplink(i);
    switches.add({direct          ? "cable"
                  : one.count > 1 ? fmt::format("{} ({} switches)", one.name, one.count)
                                  : one.name,
                  uplink ? "uplinks " + rounded_text(*uplink) : "", attached_words(machine, i)});
  }
  std::string slower;
  for (auto const& attachment : fabric.attachments)
    if (fabric.switches[attachment.at].network == number && is_slow_cable(machine, attachment))
      slower += fmt::format("{}{} runs at {}\n", machine.at(attachment.nic).name,
                            network.planes > 1 ? " to " + fabric.switches[attachment.at].name : std::string(),
                            rounded_text(*attachment.rate));
  auto title = part ? fmt::format(", switches: {}", title_of(machine.at(*part))) : std::string();
  if (network.routing != Routing::Adaptive) title += fmt::format(", routing: {}", to_string(network.routing));
  return fmt::format("{}{}\n", network.kind, title) + switches.text() + slower;
}

// "node0/nic0 with node1/nic0".
std::string shared_adapter_lines(Machine const& machine) {
  std::string text;
  for (auto const& [owner, others] : shared_adapters(machine)) {
    std::vector<std::string> names;
    for (auto const nic : others) names.push_back(machine.at(nic).name);
    text += fmt::format("{} with {}\n", machine.at(owner).name, fmt::join(names, ", "));
  }
  return text;
}

std::string fabric_sections(Machine const& machine) {
  std::string text;
  auto const& networks = machine.fabric->networks;
  for (std::uint32_t i = 0; i < networks.size(); ++i)
    text += section(networks[i].name.empty() ? "Fabric" : "Fabric " + networks[i].name, network_lines(machine, i));
  return text;
}

// "rack0  18 x NVIDIA NVSwitch 4  node0..node17: gpu0..gpu3, NVLink 5 x18 each".
std::string domain_lines(Machine const& machine) {
  Table domains({});
  for (auto const& domain : machine.nvswitches) {
    if (domain.host) continue;
    std::map<std::pair<std::vector<std::string>, int>, std::vector<HostId>> alike;
    for (std::size_t i = 0; i < machine.hosts.size(); ++i) {
      std::map<int, std::vector<std::string>> by_count;
      for (auto const& port : domain.ports)
        if (machine.host_of(port.gpu) == HostId(i))
          by_count[port.count].emplace_back(short_name(machine.at(port.gpu).name));
      for (auto const& [count, gpus] : by_count) alike[{gpus, count}].push_back(HostId(i));
    }
    std::vector<std::string> words;
    for (auto const& [gpus, hosts] : alike)
      words.push_back(fmt::format("{}: {}, {} each", host_names(machine, hosts), condensed(gpus.first),
                                  bonded_words(machine.at(domain.link_part), gpus.second)));
    auto const& title = title_of(machine.at(domain.part));
    domains.add({domain.name, domain.chips > 0 ? fmt::format("{} x {}", domain.chips, title) : title,
                 fmt::format("{}", fmt::join(words, "; "))});
  }
  return domains.text();
}

std::string cluster_text(Machine const& cluster) {
  std::string out = title_line(cluster);
  for (auto const& kind : node_kinds(cluster)) {
    std::vector<HostId> const others(kind.hosts.begin() + 1, kind.hosts.end());
    auto const& first = cluster.at(kind.hosts.front()).name;
    out += fmt::format("\n{}: {}\n", first, kind.machine.name) + node_text(kind.machine);
    if (!others.empty()) out += fmt::format("\n{}: as {}\n", host_names(cluster, others), first);
  }
  out += section("NVLink between nodes", domain_lines(cluster));
  out += section("Adapters of several nodes", shared_adapter_lines(cluster));
  if (cluster.fabric) out += fabric_sections(cluster);
  return out + section("Notes", note_lines(cluster));
}

}  // namespace

std::string tree_text(Machine const& machine) {
  if (machine.hosts.size() > 1) return cluster_text(machine);
  return title_line(machine) + node_text(machine) + section("Notes", note_lines(machine));
}

}  // namespace lanewise
