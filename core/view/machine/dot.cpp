#include "core/view/machine/dot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/machine/nic_rate.hpp"
#include "core/machine/node_kinds.hpp"
#include "core/machine/path_class.hpp"
#include "core/model/resources/pcie.hpp"
#include "core/view/machine/dot_headline.hpp"
#include "core/view/machine/dot_lines.hpp"
#include "core/view/machine/dot_route.hpp"
#include "core/view/machine/dot_style.hpp"
#include "core/view/machine/words.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

using namespace dot;

constexpr std::size_t kMaxKindsInFull = 2;  // one node is drawn in full of each of the first kinds
constexpr int kMaxInARow = 4;               // of devices below a switch; of more the GPUs are a row below

constexpr std::size_t kMaxSwitchesDrawn = 4;  // of a network; more are one for each tier

constexpr std::size_t kWidestLabel = 18;

// Line widths grow with the logarithm of the rate, so that PCIe gen3 x8 and eighteen NVLinks are both visible.
double pen_of(BytesPerSecond rate) { return 1.0 + std::log2(1.0 + rate.value() / 8e9); }

// Draws one machine. Boxes and their nodes come first, because an edge inside an open box would pull its nodes into it.
class DotWriter {
 public:
  DotWriter(Machine const& machine, std::vector<std::string> const& route)
      : machine_(machine), route_(route), gpus_(machine.hosts.size()), nics_(machine.hosts.size()) {
    for (auto const id : machine.all(PciKind::Switch))
      if (auto const& chip = machine.at(id).chip; !chip.empty()) chips_[chip].push_back(id);
    auto const kinds = node_kinds(machine);
    for (std::size_t i = 0; i < std::min(kinds.size(), kMaxKindsInFull); ++i)
      hosts_in_full_.insert(kinds[i].hosts.front());
    for (auto const& name : {route.empty() ? "" : route.front(), route.empty() ? "" : route.back()})
      for (std::size_t i = 0; is_cluster() && i < machine.hosts.size(); ++i)
        if (name.starts_with(machine.hosts[i].name + "/")) hosts_in_full_.insert(HostId(i));
    for (std::size_t i = 0; i < machine.functions.size(); ++i)
      if (auto const& one = machine.functions[i]; is_at_the_end(one))
        ++rows_[row_of(PciId(i))][one.kind == PciKind::Gpu];
    for (auto const id : machine.all(PciKind::Gpu)) ++gpus_[index(machine.host_of(id))];
    for (auto const id : machine.all(PciKind::Nic)) ++nics_[index(machine.host_of(id))];
  }

  std::string write() {
    lines_.highlight(highlight_of(machine_, route_, [&](std::uint32_t at) { return drawn_as(at); }));
    lines_.open(fmt::format("graph {} {{", dot_string(machine_.name)));
    lines_.add(
        "graph [labelloc=t, fontsize=16, newrank=true, compound=true, ranksep=0.6, nodesep=0.25, ratio=0.5625, "
        "ordering=out, fontname=\"Helvetica\"];");
    lines_.add(fmt::format("label={};", dot_headline(machine_, route_)));
    lines_.add("node [style=filled, fontsize=10, fontname=\"Helvetica\", color=\"#333333\"];");
    lines_.add("edge [fontsize=9, fontname=\"Helvetica\", color=\"#333333\"];");
    for (std::size_t i = 0; i < machine_.hosts.size(); ++i)
      if (in_full(HostId(i))) host(HostId(i));
    collapsed_hosts();
    pcie_edges();
    socket_edges();
    nvlink_edges();
    if (machine_.fabric) fabric();
    lines_.close();
    return lines_.text();
  }

 private:
  [[nodiscard]] bool is_cluster() const { return machine_.hosts.size() > 1; }
  // The first node of each kind, and the nodes of a route.
  [[nodiscard]] bool in_full(HostId id) const { return hosts_in_full_.contains(id); }
  [[nodiscard]] bool in_full(SocketId id) const { return in_full(machine_.at(id).host); }
  [[nodiscard]] bool in_full(PciId id) const { return in_full(machine_.host_of(id)); }

  // ------------------------------------------------------------------------------------------------ boxes and nodes
  void host(HostId id) {
    auto const& host = machine_.at(id);
    lines_.open_box(fmt::format("host {}", host.name), is_cluster() ? host.name + ": " + host.machine : "", kHostBox);
    // Graphviz places the boxes inside a box from right to left, so write them in reverse order.
    for (std::size_t i = machine_.sockets.size(); i-- > 0;)
      if (machine_.sockets[i].host == id) socket(SocketId(i));
    for (auto const& [chip, switches] : chips_)
      if (spans_sockets(switches) && machine_.host_of(switches.front()) == id) chip_box(chip, switches);
    for (auto const& domain : machine_.nvswitches) {
      if (domain.host != id) continue;
      auto const title = title_of(machine_.at(domain.part));
      lines_.node(domain.name, fmt::format("{}\n{}", short_name(domain.name), title), kNvSwitchStyle);
    }
    lines_.close();
  }

  // Nodes with equally many NICs on the same leaves are one node of the graph.
  void collapsed_hosts() {
    for (auto const& [leaves, hosts] : collapsed_groups())
      lines_.node(collapsed_name(hosts),
                  fmt::format("{}\n{}{}", wrapped(host_names(machine_, hosts), kWidestLabel),
                              hosts.size() > 1 ? fmt::format("{} nodes, each\n", hosts.size()) : "",
                              machines_label(hosts.back())),
                  kHostStyle);
  }
  static std::string collapsed_name(std::vector<HostId> const& hosts) {
    return fmt::format("nodes {}", index(hosts.front()));
  }

  // The number of NICs by leaf, and the collapsed nodes that have exactly these.
  [[nodiscard]] std::map<std::map<std::uint32_t, int>, std::vector<HostId>> collapsed_groups() const {
    std::vector<std::map<std::uint32_t, int>> leaves(machine_.hosts.size());
    if (machine_.fabric)
      for (auto const& attachment : machine_.fabric->attachments)
        ++leaves[index(machine_.host_of(attachment.nic))][are_drawn_by_tier() ? 0 : attachment.at];
    std::map<std::map<std::uint32_t, int>, std::vector<HostId>> groups;
    for (std::size_t i = 0; i < leaves.size(); ++i)
      if (!in_full(HostId(i))) groups[leaves[i]].push_back(HostId(i));
    return groups;
  }

  [[nodiscard]] std::string machines_label(HostId id) const {
    return fmt::format("{}\n{} GPUs, {} NICs", wrapped(machine_.at(id).machine, kWidestLabel), gpus_[index(id)],
                       nics_[index(id)]);
  }

  void socket(SocketId id) {
    auto const& socket = machine_.at(id);
    lines_.open_box(fmt::format("socket {}", socket.name), short_name(socket.name), kSocketBox);
    auto label = fmt::format("{}\n{}", short_name(socket.name), wrapped(part_words(machine_, id), kWidestLabel));
    for (auto const& link : machine_.socket_links)
      if (link.a == id)
        label += fmt::format("\n{} to {}", bonded_words(machine_.at(link.part), link.count),
                             short_name(machine_.at(link.b).name));
    lines_.node(socket.name, label, kCpuStyle);
    for (auto const& numa : machine_.numa_nodes)
      if (numa.socket == id) lines_.node(numa.name, fmt::format("{}\nmemory", short_name(numa.name)), kMemoryStyle);
    for (std::size_t i = 0; i < machine_.host_bridges.size(); ++i)
      if (machine_.host_bridges[i].socket == id) host_bridge(HostBridgeId(i));
    for (auto const& [chip, switches] : chips_)
      if (machine_.socket_of(switches.front()) == id && is_shared(switches) && !spans_sockets(switches))
        chip_box(chip, switches);
    lines_.close();
  }

  // A host bridge is a box if its socket has several host bridges and it has several root ports.
  void host_bridge(HostBridgeId id) {
    std::vector<PciId> tops;
    std::vector<PciId> below;
    for (std::size_t i = 0; i < machine_.functions.size(); ++i)
      if (machine_.functions[i].host_bridge == id) (machine_.functions[i].parent ? below : tops).push_back(PciId(i));
    auto const socket = machine_.at(id).socket;
    auto const bridges = std::count_if(machine_.host_bridges.begin(), machine_.host_bridges.end(),
                                       [&](HostBridge const& bridge) { return bridge.socket == socket; });
    bool const boxed = tops.size() > 1 && bridges > 1;
    if (boxed)
      lines_.open_box(fmt::format("bridge {}", machine_.at(id).name), short_name(machine_.at(id).name), kBridgeBox);
    for (auto const top : tops) function(top);
    if (boxed) lines_.close();
    for (auto const f : below)
      if (!is_in_chip_box(f)) function(f);
  }

  void function(PciId id) {
    auto const& f = machine_.at(id);
    auto const name = short_name(f.name);
    if (f.kind == PciKind::RootPort) return lines_.node(f.name, name, kRootPortStyle);
    auto label = fmt::format("{}\n{}", name, wrapped(part_words(machine_, id), kWidestLabel));
    if (!f.device_name.empty()) label += "\n" + f.device_name;
    if (f.mig) label += "\nMIG";
    if (machine_.is_off(id)) label += "\noff";
    if (!f.bdf.empty()) label += "\n" + f.bdf;
    label += "\n" + pcie_link_words(id);
    if (f.kind == PciKind::Gpu) label += gpu_link_words(id);
    if (f.kind == PciKind::Nic) label += cable_words(id);
    lines_.node(f.name, label, style_of(f.kind));
  }

  // Beside the line they would cross others, so what a link is stands in the lower of its ends.
  [[nodiscard]] std::string pcie_link_words(PciId id) const {
    if (machine_.at(id).link) return link_words(machine_, id);
    auto const assumed = assumed_link(machine_, id);
    return assumed ? to_string(*assumed) + "?" : "link unknown";
  }
  [[nodiscard]] std::string gpu_link_words(PciId id) const {
    std::string words = peers_label(id);
    for (auto const& domain : machine_.nvswitches)
      for (auto const& port : domain.ports)
        if (port.gpu == id) words += "\n" + bonded_words(machine_.at(domain.link_part), port.count);
    return words;
  }
  [[nodiscard]] std::string cable_words(PciId id) const {
    std::string words;
    if (!machine_.fabric) return words;
    for (auto const& attachment : machine_.fabric->attachments) {
      if (attachment.nic != id) continue;
      auto const rate = cable_rate(machine_, attachment);
      words += "\n" + (rate ? rounded_text(*rate) : std::string("cable unknown"));
    }
    return words;
  }

  static bool joins_gpus(NvlinkBundle const& bundle) {
    return std::holds_alternative<PciId>(bundle.a) && std::holds_alternative<PciId>(bundle.b);
  }

  // "NVLink 2 x1: gpu1, gpu2", a line for each kind of bundle.
  [[nodiscard]] std::string peers_label(PciId id) const {
    std::map<std::string, std::vector<std::string>> peers;
    for (auto const& bundle : machine_.nvlinks) {
      if (!joins_gpus(bundle) || (bundle.a != NvlinkEnd(id) && bundle.b != NvlinkEnd(id))) continue;
      auto const& peer = bundle.a == NvlinkEnd(id) ? bundle.b : bundle.a;
      peers[bonded_words(machine_.at(bundle.part), bundle.count)].emplace_back(short_name(name_of(peer)));
    }
    std::string lines;
    for (auto const& [words, names] : peers)
      lines += "\n" + wrapped(fmt::format("{}: {}", words, condensed(names)), kWidestLabel + 4);
    return lines;
  }

  static bool is_shared(std::vector<PciId> const& switches) { return switches.size() > 1; }
  [[nodiscard]] bool spans_sockets(std::vector<PciId> const& switches) const {
    return std::any_of(switches.begin(), switches.end(),
                       [&](PciId id) { return machine_.socket_of(id) != machine_.socket_of(switches.front()); });
  }
  [[nodiscard]] bool is_in_chip_box(PciId id) const {
    auto const found = chips_.find(machine_.at(id).chip);
    return found != chips_.end() && is_shared(found->second);
  }
  void chip_box(std::string const& chip, std::vector<PciId> const& switches) {
    lines_.open_box(fmt::format("chip {}", chip), fmt::format("chip {}", short_name(chip)), kChipBox);
    for (auto const id : switches) function(id);
    lines_.close();
  }

  // ---------------------------------------------------------------------------------------------------------- edges
  void pcie_edges() {
    for (std::size_t i = 0; i < machine_.functions.size(); ++i) {
      auto const id = PciId(i);
      if (!in_full(id)) continue;
      auto const& f = machine_.functions[i];
      auto const& above = f.parent ? machine_.at(*f.parent).name : machine_.at(machine_.socket_of(id)).name;
      lines_.edge(above, f.name, pcie_attributes(id));
    }
  }

  // Devices, not the ports and switches above them.
  static bool is_at_the_end(PciFunction const& one) {
    return one.kind != PciKind::RootPort && one.kind != PciKind::Switch;
  }
  // What devices share a row with: a switch, or the root ports of a socket.
  [[nodiscard]] std::string const& row_of(PciId id) const {
    auto const& above = machine_.at(id).parent;
    return above && machine_.at(*above).kind == PciKind::Switch ? machine_.at(*above).name
                                                                : machine_.at(machine_.socket_of(id)).name;
  }
  // GPUs go a row below other devices where there are many: narrower, and with nothing between them and their links.
  [[nodiscard]] bool is_a_row_below(PciId id) const {
    auto const found = rows_.find(row_of(id));
    if (found == rows_.end() || machine_.at(id).kind != PciKind::Gpu) return false;
    auto const [others, gpus] = found->second;
    return others > 0 && others + gpus > kMaxInARow;
  }

  // Dashed: assumed from datasheets. Dotted: unknown. In kSlowColour: slower than the devices allow.
  [[nodiscard]] DotAttributes pcie_attributes(PciId id) const {
    auto const& f = machine_.at(id);
    if (f.kind == PciKind::RootPort) return {{"penwidth", "1"}};
    auto const assumed = f.link ? std::nullopt : assumed_link(machine_, id);
    auto const link = f.link ? f.link : assumed;
    DotAttributes attributes;
    attributes.emplace_back("penwidth", link ? fmt::format("{:.1f}", pen_of(pcie::raw_rate(*link))) : "1");
    if (!f.link) attributes.emplace_back("style", assumed ? "dashed" : "dotted");
    if (f.link && f.max_link) attributes.emplace_back("color", std::string(kSlowColour));
    if (is_a_row_below(id)) attributes.emplace_back("minlen", "2");
    return attributes;
  }

  void socket_edges() {
    for (auto const& numa : machine_.numa_nodes)
      if (in_full(numa.socket)) lines_.edge(machine_.at(numa.socket).name, numa.name, {{"penwidth", "3"}});
    for (auto const& link : machine_.socket_links) {
      if (!in_full(link.a)) continue;
      auto const& part = machine_.at(link.part);
      lines_.edge(machine_.at(link.a).name, machine_.at(link.b).name,
                  bonded_attributes(part, link.count, kCpuStyle.fill));
      lines_.add(fmt::format("{{rank=same; {}; {};}}", dot_string(machine_.at(link.a).name),
                             dot_string(machine_.at(link.b).name)));
    }
  }

  static DotAttributes bonded_attributes(Part const& part, int count, std::string_view colour) {
    DotAttributes attributes{{"constraint", "false"}, {"color", std::string(colour)}};
    if (part.link.rate) attributes.emplace_back("penwidth", fmt::format("{:.1f}", pen_of(*part.link.rate * count)));
    return attributes;
  }

  [[nodiscard]] std::string const& name_of(NvlinkEnd const& end) const {
    if (auto const* gpu = std::get_if<PciId>(&end)) return machine_.at(*gpu).name;
    return machine_.at(std::get<SocketId>(end)).name;
  }
  [[nodiscard]] bool in_full(NvlinkEnd const& end) const {
    if (auto const* gpu = std::get_if<PciId>(&end)) return in_full(*gpu);
    return in_full(std::get<SocketId>(end));
  }

  // Edges between GPUs, which are in a row, go below the row, because the PCIe links are above it.
  [[nodiscard]] DotAttributes nvlink_attributes(NvlinkBundle const& bundle) const {
    auto const& part = machine_.at(bundle.part);
    auto attributes = bonded_attributes(part, bundle.count, kNvlinkColour);
    if (!joins_gpus(bundle)) return attributes;
    attributes.emplace_back("headport", "s");
    attributes.emplace_back("tailport", "s");
    return attributes;
  }

  void nvlink_edges() {
    for (auto const& bundle : machine_.nvlinks)
      if (in_full(bundle.a)) lines_.edge(name_of(bundle.a), name_of(bundle.b), nvlink_attributes(bundle));
    for (auto const& domain : machine_.nvswitches) {
      if (domain.host && !in_full(*domain.host)) continue;
      auto const& part = machine_.at(domain.link_part);
      if (!domain.host)
        lines_.node(domain.name, fmt::format("{}\n{}", domain.name, title_of(machine_.at(domain.part))),
                    kNvSwitchStyle);
      for (auto const& port : domain.ports) {
        if (!in_full(port.gpu)) continue;
        auto attributes = bonded_attributes(part, port.count, kNvlinkColour);
        attributes[0] = {"weight", "2"};  // unlike a pair's, it ranks the switch below its GPUs
        lines_.edge(machine_.at(port.gpu).name, domain.name, attributes);
      }
    }
  }

  // --------------------------------------------------------------------------------------------------------- network
  void fabric() {
    auto const& fabric = *machine_.fabric;
    for (std::uint32_t i = 0; i < fabric.networks.size(); ++i)
      if (fabric.networks[i].kind == "direct")
        cables(i);
      else
        switches_of(i);
    for (auto const& attachment : fabric.attachments)
      if (in_full(attachment.nic) && fabric.network_of(attachment.at).kind != "direct")
        lines_.edge(machine_.at(attachment.nic).name, drawn_as(attachment.at), cable_attributes(attachment));
    collapsed_edges();
  }

  // One network as a box, with the cables within it.
  void switches_of(std::uint32_t number) {
    auto const& fabric = *machine_.fabric;
    auto const& network = fabric.networks[number];
    auto const first = std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                    [&](Fabric::Switch const& one) { return one.network == number; });
    auto const title = first->part ? ": " + title_of(machine_.at(*first->part)) : std::string();
    auto const name = network.name.empty() ? std::string() : network.name + ", ";
    lines_.open_box(network.name.empty() ? "fabric" : "fabric " + network.name, name + network.kind + title,
                    kFabricBox);
    std::map<std::pair<std::string, std::string>, BytesPerSecond> trunks;
    for (auto const& trunk : fabric.trunks)
      if (trunk.cables > 0 && fabric.switches[trunk.lower].network == number)
        trunks[{drawn_as(trunk.lower), drawn_as(trunk.upper)}] += trunk.rate;
    for (std::uint32_t i = 0; i < fabric.switches.size(); ++i) {
      if (fabric.switches[i].network != number || !is_drawn(i)) continue;
      auto label = switch_label(i);
      for (auto const& [ends, rate] : trunks)
        if (ends.first == drawn_as(i)) label += fmt::format("\nto {}: {}", ends.second, rounded_text(rate));
      lines_.node(drawn_as(i), label, kNetworkSwitchStyle);
    }
    for (auto const& [ends, rate] : trunks) lines_.edge(ends.first, ends.second, network_attributes(rate));
    lines_.close();
  }

  // Many switches are drawn as one for each tier.
  [[nodiscard]] bool are_drawn_by_tier() const { return machine_.fabric->switches.size() > kMaxSwitchesDrawn; }
  [[nodiscard]] bool is_drawn(std::uint32_t at) const {
    auto const& all = machine_.fabric->switches;
    return !are_drawn_by_tier() || at == 0 || all[at].tier != all[at - 1].tier ||
           all[at].network != all[at - 1].network;
  }
  [[nodiscard]] std::string drawn_as(std::uint32_t at) const {
    auto const& one = machine_.fabric->switches[at];
    if (!are_drawn_by_tier()) return one.name;
    auto const& network = machine_.fabric->network_of(at).name;
    return fmt::format("{}tier {}", network.empty() ? network : network + " ", one.tier);
  }
  [[nodiscard]] std::string switch_label(std::uint32_t at) const {
    auto const& all = machine_.fabric->switches;
    if (!are_drawn_by_tier()) return all[at].name;
    auto const count = std::count_if(all.begin(), all.end(), [&](Fabric::Switch const& one) {
      return one.tier == all[at].tier && one.network == all[at].network;
    });
    return count == 1 ? all[at].name : fmt::format("{}\n{} like it", all[at].name, count - 1);
  }

  // One line from collapsed nodes to each of their leaves.
  void collapsed_edges() {
    for (auto const& [leaves, hosts] : collapsed_groups())
      for (auto const& [leaf, nics] : leaves)
        lines_.edge(collapsed_name(hosts), drawn_as(leaf), {{"color", std::string(kNetworkColour)}, {"penwidth", "3"}});
  }

  // Two nodes without a switch: joins each NIC to the other node's NIC on its rail.
  void cables(std::uint32_t network) {
    auto const& attachments = machine_.fabric->attachments;
    auto const is_on_it = [&](std::size_t i) {
      return machine_.fabric->switches[attachments[i].at].network == network;
    };
    for (std::size_t a = 0; a < attachments.size(); ++a)
      for (std::size_t b = a + 1; b < attachments.size(); ++b) {
        if (!is_on_it(a) || !is_on_it(b)) continue;
        auto const& nic_a = machine_.at(attachments[a].nic);
        auto const& nic_b = machine_.at(attachments[b].nic);
        if (nic_a.rail != nic_b.rail || machine_.host_of(attachments[a].nic) == machine_.host_of(attachments[b].nic))
          continue;
        lines_.edge(nic_a.name, nic_b.name, cable_attributes(attachments[a]));
      }
  }

  [[nodiscard]] DotAttributes cable_attributes(Fabric::Attachment const& attachment) const {
    auto const rate = cable_rate(machine_, attachment);
    if (!rate) return {{"color", std::string(kNetworkColour)}, {"style", "dotted"}};
    auto attributes = network_attributes(*rate);
    if (is_slow_cable(machine_, attachment)) attributes.front().second = kSlowColour;
    return attributes;
  }

  static DotAttributes network_attributes(BytesPerSecond rate) {
    return {{"color", std::string(kNetworkColour)}, {"penwidth", fmt::format("{:.1f}", pen_of(rate))}};
  }

  Machine const& machine_;
  std::vector<std::string> const& route_;
  std::set<HostId> hosts_in_full_;
  std::map<std::string, std::array<int, 2>> rows_;  // devices besides GPUs, and GPUs, by row_of()
  std::vector<int> gpus_;                           // how many each host has
  std::vector<int> nics_;
  std::map<std::string, std::vector<PciId>> chips_;  // and their virtual switches
  DotLines lines_;
};

}  // namespace

std::string dot_text(Machine const& machine, std::vector<std::string> const& route) {
  return DotWriter(machine, route).write();
}

}  // namespace lanewise
