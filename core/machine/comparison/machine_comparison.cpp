#include "core/machine/comparison/machine_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "core/io/spelling.hpp"
#include "core/machine/comparison/node_comparison.hpp"
#include "core/machine/nic_port.hpp"
#include "core/machine/node_kinds.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 14> kKindNames{"device",   "place",   "link",     "acs",         "iommu",
                                                      "numa",     "part",    "figure",   "socket_link", "nvlink",
                                                      "firmware", "setting", "software", "fabric"};

class MachineComparer {
 public:
  MachineComparer(Machine const& first, Machine const& second)
      : first_(first), second_(second), first_kinds_(node_kinds(first)), second_kinds_(node_kinds(second)) {}

  MachineComparison compare() {
    result_.first = first_.name;
    result_.second = second_.name;
    compare_hosts();
    compare_fabrics();
    return std::move(result_);
  }

 private:
  // Two kinds of nodes, and the nodes of the first machine that are of the one and in the second of the other.
  struct Pair {
    NodeComparison nodes;
    std::vector<std::string> names;
  };

  static std::vector<std::size_t> kinds_by_host(std::vector<NodeKind> const& kinds, std::size_t hosts) {
    std::vector<std::size_t> by_host(hosts);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
      for (auto const host : kinds[kind].hosts) by_host[index(host)] = kind;
    return by_host;
  }

  // By name, then by order.
  [[nodiscard]] std::vector<std::optional<HostId>> match_hosts() {
    std::vector<std::optional<HostId>> matches(first_.hosts.size());
    std::vector<bool> taken(second_.hosts.size());
    std::map<std::string_view, std::size_t> by_name;
    for (std::size_t b = 0; b < second_.hosts.size(); ++b) by_name.emplace(second_.hosts[b].name, b);
    for (std::size_t a = 0; a < matches.size(); ++a)
      if (auto const found = by_name.find(first_.hosts[a].name); found != by_name.end() && !taken[found->second]) {
        matches[a] = HostId(found->second);
        taken[found->second] = true;
      }
    std::size_t next = 0;
    for (auto& match : matches) {
      if (match) continue;
      while (next < taken.size() && taken[next]) ++next;
      if (next == taken.size()) break;
      match = HostId(next);
      taken[next] = true;
    }
    for (std::size_t b = 0; b < taken.size(); ++b)
      if (!taken[b]) lacks(second_.hosts[b], false);
    return matches;
  }

  void lacks(Host const& host, bool in_first) {
    lacking_.push_back(host.name + "/");
    result_.differences.push_back({DifferenceKind::Device,
                                   host.name.empty() ? host.machine : host.name,
                                   "node",
                                   in_first ? host.machine : "absent",
                                   in_first ? "absent" : host.machine,
                                   {},
                                   {}});
  }

  void compare_hosts() {
    auto const of_first = kinds_by_host(first_kinds_, first_.hosts.size());
    auto const of_second = kinds_by_host(second_kinds_, second_.hosts.size());
    auto const matches = match_hosts();
    std::map<std::pair<std::size_t, std::size_t>, Pair> pairs;
    for (std::size_t a = 0; a < matches.size(); ++a) {
      if (!matches[a]) {
        lacks(first_.hosts[a], true);
        continue;
      }
      auto const& other = second_.at(*matches[a]);
      if (first_.hosts[a].name != other.name && first_.hosts.size() > 1 && second_.hosts.size() > 1)
        result_.renamed.push_back({first_.hosts[a].name, other.name});
      auto const key = std::pair(of_first[a], of_second[index(*matches[a])]);
      auto const [pair, is_new] = pairs.try_emplace(key);
      if (is_new)
        pair->second.nodes = compare_nodes(first_kinds_[key.first].machine, second_kinds_[key.second].machine);
      pair->second.names.push_back(first_.hosts[a].name);
      enter_nics(HostId(a), *matches[a], pair->second.nodes, key);
    }
    for (auto& [key, pair] : pairs) take(pair);
  }

  void take(Pair& pair) {
    bool const cluster = first_.hosts.size() > 1;
    for (auto& difference : pair.nodes.differences) {
      if (cluster) difference.nodes = pair.names;
      result_.differences.push_back(std::move(difference));
    }
    for (auto& renaming : pair.nodes.renamed)
      if (std::find(result_.renamed.begin(), result_.renamed.end(), renaming) == result_.renamed.end())
        result_.renamed.push_back(std::move(renaming));
    result_.reordered = result_.reordered || pair.nodes.reordered;
  }

  static std::string full_name(Host const& host, std::string const& name) {
    return host.name.empty() ? name : host.name + "/" + name;
  }

  // Which NIC of the first machine a NIC of the second is, by their full names.
  void enter_nics(HostId a, HostId b, NodeComparison const& nodes, std::pair<std::size_t, std::size_t> kinds) {
    if (!first_.fabric || !second_.fabric) return;
    auto const& first = first_kinds_[kinds.first].machine;
    auto const& second = second_kinds_[kinds.second].machine;
    for (auto const id : second.all(PciKind::Nic))
      if (auto const back = nodes.matching.functions_back[index(id)])
        nic_in_first_.emplace(full_name(second_.at(b), second.at(id).name),
                              full_name(first_.at(a), first.at(*back).name));
  }

  void differ(std::string const& subject, std::string const& key, std::string first, std::string second) {
    if (first != second)
      result_.differences.push_back(
          {DifferenceKind::Fabric, subject, key, std::move(first), std::move(second), {}, {}});
  }

  void compare_fabrics() {
    if (!first_.fabric && !second_.fabric) return;
    differ("fabric", "kind", kind_words(first_), kind_words(second_));
    if (!first_.fabric || !second_.fabric) return;
    auto const part = [](Machine const& machine) {
      auto const& switches = machine.fabric->switches;
      return !switches.empty() && switches.front().part ? machine.at(*switches.front().part).name : std::string();
    };
    differ("fabric", "switch", part(first_), part(second_));
    differ("fabric", "routing", routing_words(*first_.fabric), routing_words(*second_.fabric));
    compare_cables();
    compare_attachments();
  }

  static std::string kind_words(Machine const& machine) {
    if (!machine.fabric) return "absent";
    std::vector<std::string> words;
    for (auto const& network : machine.fabric->networks)
      words.push_back(network.name.empty() ? network.kind : fmt::format("{}: {}", network.name, network.kind));
    return fmt::format("{}", fmt::join(words, ", "));
  }

  static std::string routing_words(Fabric const& fabric) {
    std::vector<std::string> words;
    for (auto const& network : fabric.networks)
      words.push_back(network.routing == Routing::Ecmp ? fmt::format("ecmp, {} flows a pair", network.flows_per_pair)
                                                       : std::string(to_string(network.routing)));
    return fmt::format("{}", fmt::join(words, "; "));
  }

  void compare_cables() {
    auto const cables = [](Fabric const& fabric) {
      std::map<std::string, std::string> by_ends;
      for (auto const& trunk : fabric.trunks)
        by_ends[fmt::format("{} - {}", fabric.switches[trunk.lower].name, fabric.switches[trunk.upper].name)] =
            fmt::format("{} cables, {}", trunk.cables, exact_text(trunk.rate));
      return by_ends;
    };
    compare_texts(cables(*first_.fabric), cables(*second_.fabric), "cables");
  }

  void compare_attachments() {
    auto const attachments = [](Machine const& machine, auto const& name_of) {
      std::map<std::string, std::string> by_nic;
      for (auto const& attachment : machine.fabric->attachments) {
        auto& words = by_nic[name_of(machine.at(attachment.nic).name)];
        words += fmt::format("{}{}{}", words.empty() ? "" : ", ", machine.fabric->switches[attachment.at].name,
                             attachment.rate ? " at " + exact_text(*attachment.rate) : "");
        if (auto const owner = port_owner(machine, attachment.nic);
            machine.host_of(owner) != machine.host_of(attachment.nic))
          words += ", through the port of " + name_of(machine.at(owner).name);
      }
      return by_nic;
    };
    compare_texts(attachments(first_, [](std::string const& name) { return name; }),
                  attachments(second_,
                              [&](std::string const& name) {
                                auto const found = nic_in_first_.find(name);
                                return found == nic_in_first_.end() ? name : found->second;
                              }),
                  "attachment");
  }

  void compare_texts(std::map<std::string, std::string> const& first, std::map<std::string, std::string> const& second,
                     std::string const& key) {
    for (auto const& [subject, text] : first) {
      auto const other = second.find(subject);
      if (!is_lacking(subject)) differ(subject, key, text, other == second.end() ? "absent" : other->second);
    }
    for (auto const& [subject, text] : second)
      if (!first.contains(subject) && !is_lacking(subject)) differ(subject, key, "absent", text);
  }

  // Whether it is of a node that only one of the machines has.
  [[nodiscard]] bool is_lacking(std::string const& subject) const {
    return std::any_of(lacking_.begin(), lacking_.end(),
                       [&](std::string const& prefix) { return prefix.size() > 1 && subject.starts_with(prefix); });
  }

  Machine const& first_;
  Machine const& second_;
  std::vector<std::string> lacking_;  // "node3/"
  std::vector<NodeKind> first_kinds_, second_kinds_;
  std::map<std::string, std::string> nic_in_first_;
  MachineComparison result_;
};

}  // namespace

std::string_view to_string(DifferenceKind kind) { return kKindNames.at(static_cast<std::size_t>(kind)); }

std::vector<std::string> difference_kind_names() { return {kKindNames.begin(), kKindNames.end()}; }

Parsed<DifferenceKind> parse_difference_kind(std::string_view text) {
  auto const* const found = std::find(kKindNames.begin(), kKindNames.end(), text);
  if (found != kKindNames.end()) return {static_cast<DifferenceKind>(found - kKindNames.begin()), {}};
  auto const names = difference_kind_names();
  return {std::nullopt, fmt::format("no kind of difference is called '{}'{} allowed: {}", text,
                                    did_you_mean_first(text, names), fmt::join(names, ", "))};
}

std::string_view to_string(ComparisonResult result) {
  constexpr std::array<std::string_view, 3> kNames{"equal", "equal_but_for_names", "different"};
  return kNames.at(static_cast<std::size_t>(result));
}

std::size_t MachineComparison::unexpected() const {
  return static_cast<std::size_t>(std::count_if(differences.begin(), differences.end(),
                                                [](auto const& difference) { return difference.expected.empty(); }));
}

ComparisonResult MachineComparison::result() const {
  if (unexpected() > 0) return ComparisonResult::Different;
  return renamed.empty() && !reordered ? ComparisonResult::Equal : ComparisonResult::EqualButForNames;
}

MachineComparison compare_machines(Machine const& first, Machine const& second) {
  return MachineComparer(first, second).compare();
}

void mark_expected(MachineComparison& comparison, std::span<ExpectedDifference const> expected) {
  for (auto& difference : comparison.differences) {
    if (!difference.expected.empty()) continue;
    auto const fits = [&](ExpectedDifference const& entry) {
      return entry.kind == difference.kind && (entry.key.empty() || entry.key == difference.key) &&
             (entry.subject.empty() || entry.subject == difference.subject) &&
             (!entry.second_silent || difference.second.empty());
    };
    auto const found = std::find_if(expected.begin(), expected.end(), fits);
    if (found != expected.end()) difference.expected = found->reason;
  }
}

}  // namespace lanewise
