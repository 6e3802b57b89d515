// Fabrics that are a graph of switches: torus, dragonfly, and any other.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/io/spelling.hpp"
#include "core/machine/files/fabric_reader.hpp"
#include "core/machine/files/fabric_union.hpp"
#include "core/machine/files/key_values.hpp"
#include "core/machine/nic_port.hpp"
#include "core/machine/nic_rate.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxSwitches = 16384;

// The count under a key, at least 1; `otherwise` where there is none.
std::size_t positive(MapReader& reader, std::string_view key, std::size_t otherwise) {
  auto const given = positive_count(reader, key);
  return given ? static_cast<std::size_t>(std::max(*given, 1)) : otherwise;
}

}  // namespace

// Puts the nodes on the switches in order. False, after a report, where their numbers do not fit.
bool FabricReader::attach_nodes(std::vector<std::string> const& names) {
  auto const nodes = nodes_.size();
  auto const each = nodes_per_leaf((nodes + names.size() - 1) / names.size());
  if (names.size() * each < nodes || (names.size() - 1) * each >= nodes) {
    reader_.fail_at_key("nodes_per_leaf",
                        fmt::format("{} switches with {} nodes each are for {} to {} nodes; here are {}", names.size(),
                                    each, (names.size() - 1) * each + 1, names.size() * each, nodes));
    return false;
  }
  auto const part = switch_part(reader_, "switch");
  for (auto const& name : names) fabric_.switches.push_back({name, 0, 1, part});
  for (std::size_t i = 0; i < nodes; ++i)
    for (auto const nic : nics_[nodes_[i]])
      fabric_.attachments.push_back(
          {nic, static_cast<std::uint32_t>(i / each), rate_of_cable(nic, static_cast<std::uint32_t>(i / each))});
  return true;
}

// Cables between the same two switches are one trunk.
void FabricReader::add_cables(std::uint32_t a, std::uint32_t b, int cables, BytesPerSecond one) {
  auto const known = std::find_if(fabric_.trunks.begin(), fabric_.trunks.end(), [&](Fabric::Trunk const& trunk) {
    return trunk.lower == std::min(a, b) && trunk.upper == std::max(a, b);
  });
  auto& trunk = known != fabric_.trunks.end()
                    ? *known
                    : fabric_.trunks.emplace_back(Fabric::Trunk{std::min(a, b), std::max(a, b), 0, BytesPerSecond(0)});
  trunk.cables += cables;
  trunk.rate += one * static_cast<double>(cables);
}

void FabricReader::read_torus() {
  std::vector<std::size_t> sizes;
  std::size_t all = 1;
  for (auto const* item : reader_.items("dimensions")) {
    auto const size = whole_number_in(*item, 1);
    if (!size) return reader_.fail(*item, "a dimension of a torus is a whole number from 1");
    sizes.push_back(static_cast<std::size_t>(*size));
    all *= sizes.back();
    if (all > kMaxSwitches) return reader_.fail(*item, fmt::format("a torus has at most {} switches", kMaxSwitches));
  }
  if (sizes.empty()) return reader_.fail_at_key("dimensions", "a torus has 'dimensions', such as [4, 4, 8]");
  auto const coordinates = [&](std::size_t number) {
    std::vector<std::size_t> at;
    for (auto const size : sizes) {
      at.push_back(number % size);
      number /= size;
    }
    return at;
  };
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all; ++i) names.push_back(fmt::format("s{}", fmt::join(coordinates(i), ".")));
  if (!attach_nodes(names)) return;
  auto const cables = static_cast<int>(positive(reader_, "cables", 1));
  auto const one = reader_.rate("cable_rate").value_or(fastest_nic());
  std::size_t step = 1;
  for (auto const size : sizes) {
    for (std::size_t i = 0; i < all; ++i) {
      auto const at = i / step % size;
      if (size < 2 || (size == 2 && at == 1)) continue;
      auto const next = i - at * step + (at + 1) % size * step;
      add_cables(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(next), cables, one);
    }
    step *= size;
  }
}

// Every switch of a group is joined with every other; the cables between groups are dealt to the switches in turn.
void FabricReader::read_dragonfly() {
  if (!reader_.has("groups") || !reader_.has("switches_per_group"))
    return reader_.fail_at_key("kind", "a dragonfly has 'groups' and 'switches_per_group'");
  auto const groups = positive(reader_, "groups", 1);
  auto const each = positive(reader_, "switches_per_group", 1);
  if (groups * each > kMaxSwitches)
    return reader_.fail(*reader_.node("groups"), fmt::format("a dragonfly has at most {} switches", kMaxSwitches));
  std::vector<std::string> names;
  for (std::size_t group = 0; group < groups; ++group)
    for (std::size_t i = 0; i < each; ++i) names.push_back(fmt::format("g{}.s{}", group, i));
  if (!attach_nodes(names)) return;
  for (std::size_t i = 0; i < names.size(); ++i) fabric_.switches[i].group = static_cast<int>(i / each);
  auto const cables = static_cast<int>(positive(reader_, "cables", 1));
  auto const global = positive(reader_, "global_cables", 1);
  auto const one = reader_.rate("cable_rate").value_or(fastest_nic());
  auto const number = [&](std::size_t group, std::size_t i) { return static_cast<std::uint32_t>(group * each + i); };
  for (std::size_t group = 0; group < groups; ++group)
    for (std::size_t a = 0; a < each; ++a)
      for (std::size_t b = a + 1; b < each; ++b) add_cables(number(group, a), number(group, b), cables, one);
  for (std::size_t a = 0; a < groups; ++a)
    for (std::size_t b = a + 1; b < groups; ++b)
      for (std::size_t cable = 0; cable < global; ++cable) {
        auto const in_a = ((b - 1) * global + cable) % each;  // of the other groups, b is number b - 1
        auto const in_b = (a * global + cable) % each;
        add_cables(number(a, in_a), number(b, in_b), 1, one);
      }
}

void FabricReader::read_graph() {
  for (auto& switches : reader_.maps("switches")) read_switches(switches);
  if (fabric_.switches.empty()) return reader_.fail_at_key("switches", "a graph has 'switches'");
  std::sort(fabric_.attachments.begin(), fabric_.attachments.end(),
            [](auto const& a, auto const& b) { return a.nic < b.nic; });
  for (auto& link : reader_.maps("links")) read_link(link);
  if (fabric_.attachments.empty()) return reader_.fail_at_key("switches", "no NIC is on a switch");
  check_attached();
  order_switches();
}

// The only fabric joins all nodes, some of them maybe by a port that another node owns.
void FabricReader::check_attached() {
  if (!network().name.empty()) return;
  std::vector<bool> is_attached(cluster_.hosts.size(), false);
  for (auto const nic : cluster_.all(PciKind::Nic))
    if (!fabric_.attachments_of(port_owner(cluster_, nic)).empty()) is_attached[index(cluster_.host_of(nic))] = true;
  auto const without = std::find(is_attached.begin(), is_attached.end(), false);
  if (without != is_attached.end())
    reader_.fail_at_key("switches",
                        fmt::format("no NIC of {} is on a switch",
                                    cluster_.hosts[static_cast<std::size_t>(without - is_attached.begin())].name));
}

void FabricReader::read_switches(MapReader& reader) {
  auto const text = reader.text("switch");
  if (!text) return;
  std::vector<std::string> names;
  try {
    names = expand_range(*text);
  } catch (InputError const& error) {
    return reader.fail(*reader.node("switch"), error.what());
  }
  auto const part = switch_part(reader, "part");
  auto const first = fabric_.switches.size();
  for (auto const& name : names) {
    if (std::any_of(fabric_.switches.begin(), fabric_.switches.end(),
                    [&](auto const& one) { return one.name == name; }))
      return reader.fail(*reader.node("switch"), fmt::format("two switches are called '{}'", name));
    fabric_.switches.push_back({name, 0, 1, part});
  }
  auto const nics = expanded_names(reader, "nics");
  // Several switches share the NICs evenly, in order.
  auto const each = (nics.size() + names.size() - 1) / names.size();
  for (std::size_t i = 0; i < nics.size(); ++i)
    attach_named(reader, nics[i], static_cast<std::uint32_t>(first + i / each));
}

void FabricReader::attach_named(MapReader& reader, std::string const& nic, std::uint32_t at) {
  auto const id = cluster_.find_function(nic);
  if (!id || cluster_.at(*id).kind != PciKind::Nic)
    return reader.fail(*reader.node("nics"), fmt::format("no NIC is called '{}'; write it as node0/nic0", nic));
  if (auto const owner = port_owner(cluster_, *id); owner != *id)
    return reader.fail(*reader.node("nics"), fmt::format("'{}' shares the port of '{}': only that one is on a switch",
                                                         nic, cluster_.at(owner).name));
  bool const is_taken = std::any_of(fabric_.attachments.begin(), fabric_.attachments.end(),
                                    [&](Fabric::Attachment const& known) { return known.nic == *id; });
  if (is_taken) return reader.fail(*reader.node("nics"), fmt::format("'{}' is on two switches", nic));
  fabric_.attachments.push_back({*id, at, rate_of_cable(*id, at)});
}

void FabricReader::read_link(MapReader& reader) {
  auto const ends = reader.texts("between");
  if (ends.size() != 2 || ends[0] == ends[1])
    return reader.fail_at_key("between", "'between' names two different switches: a cable has two ends");
  std::vector<std::uint32_t> found;
  for (auto const& name : ends) {
    auto const known = std::find_if(fabric_.switches.begin(), fabric_.switches.end(),
                                    [&](Fabric::Switch const& one) { return one.name == name; });
    if (known == fabric_.switches.end()) {
      std::vector<std::string> names;
      for (auto const& one : fabric_.switches) names.push_back(one.name);
      return reader.fail(*reader.node("between"),
                         fmt::format("no switch is called '{}'{}", name, did_you_mean(name, names)));
    }
    found.push_back(static_cast<std::uint32_t>(known - fabric_.switches.begin()));
  }
  add_cables(found[0], found[1], static_cast<int>(positive(reader, "count", 1)),
             reader.rate("rate").value_or(fastest_nic()));
}

// The tier of a switch is its distance from those with NICs; switches of lower tiers come first.
void FabricReader::order_switches() {
  auto const count = fabric_.switches.size();
  for (auto& one : fabric_.switches) one.tier = -1;
  for (auto const& attachment : fabric_.attachments) fabric_.switches[attachment.at].tier = 0;
  for (int tier = 0; tier < static_cast<int>(count); ++tier)
    for (auto const& trunk : fabric_.trunks) {
      auto& a = fabric_.switches[trunk.lower].tier;
      auto& b = fabric_.switches[trunk.upper].tier;
      if (a == tier && b < 0) b = tier + 1;
      if (b == tier && a < 0) a = tier + 1;
    }
  sort_by_tier(fabric_);
  std::sort(fabric_.trunks.begin(), fabric_.trunks.end(),
            [](auto const& a, auto const& b) { return std::tie(a.lower, a.upper) < std::tie(b.lower, b.upper); });
  auto const lone = std::find_if(fabric_.switches.begin(), fabric_.switches.end(),
                                 [](Fabric::Switch const& one) { return one.tier < 0; });
  if (lone != fabric_.switches.end())
    reader_.fail_at_key("links", fmt::format("nothing joins '{}' with a switch that has NICs", lone->name));
}

}  // namespace lanewise
