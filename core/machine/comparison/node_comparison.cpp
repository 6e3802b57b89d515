#include "core/machine/comparison/node_comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/machine/comparison/field_text.hpp"
#include "core/machine/comparison/host_comparison.hpp"
#include "core/machine/comparison/link_comparison.hpp"
#include "core/machine/machine_fields.hpp"
#include "core/machine/part_fields.hpp"
#include "core/machine/path_class.hpp"

namespace lanewise {
namespace {

class NodeComparer {
 public:
  NodeComparer(Machine const& first, Machine const& second)
      : first_(first), second_(second), match_(match_devices(first, second)) {}

  NodeComparison compare() {
    compare_sockets();
    compare_functions();
    compare_host_bridges();
    for (auto& difference : link_differences(first_, second_, match_)) add(std::move(difference));
    for (auto& difference : host_differences(first_, second_, match_)) add(std::move(difference));
    compare_parts();
    bool const reordered = is_reordered();
    return {std::move(match_), std::move(differences_), std::move(renamed_), reordered};
  }

 private:
  void add(MachineDifference difference) { differences_.push_back(std::move(difference)); }
  void differ(DifferenceKind kind, std::string const& subject, std::string const& key, std::string first,
              std::string second) {
    if (first != second) add({kind, subject, key, std::move(first), std::move(second), {}, {}});
  }
  // Only where both say something.
  void differ_if_both(DifferenceKind kind, std::string const& subject, std::string const& key, std::string const& first,
                      std::string const& second) {
    if (!first.empty() && !second.empty()) differ(kind, subject, key, first, second);
  }
  void note_name(std::string const& first, std::string const& second) {
    if (first != second) renamed_.push_back({first, second});
  }

  // Two parts under different names are one when every figure is the same.
  void compare_part(std::string const& subject, Part const* first, Part const* second) {
    auto const name = [](Part const* part) { return part == nullptr ? std::string() : part->name; };
    if (first != nullptr && second != nullptr) {
      bool const same = first->name == second->name || part_differences(*first, *second).empty();
      if (first->name == second->name) common_parts_.insert(first->name);
      if (same) return;
    }
    differ(DifferenceKind::Part, subject, "part", name(first), name(second));
  }

  void compare_sockets() {
    for (std::size_t a = 0; a < first_.sockets.size(); ++a) {
      auto const& socket = first_.sockets[a];
      auto const other = match_.sockets[a];
      if (!other) {
        differ(DifferenceKind::Device, socket.name, "socket", "present", kAbsent);
        continue;
      }
      note_name(socket.name, second_.at(*other).name);
      compare_part(socket.name, first_.part_of(SocketId(a)), second_.part_of(*other));
      compare_numa_nodes(SocketId(a), *other);
    }
    for (std::size_t b = 0; b < second_.sockets.size(); ++b)
      if (!match_.sockets_back[b])
        differ(DifferenceKind::Device, second_.sockets[b].name, "socket", kAbsent, "present");
  }

  static std::map<int, std::string> numa_nodes(Machine const& machine, SocketId socket) {
    std::map<int, std::string> nodes;
    for (auto const& numa : machine.numa_nodes)
      if (numa.socket == socket) nodes.emplace(numa.os_index, numa.cores);
    return nodes;
  }
  void compare_numa_nodes(SocketId a, SocketId b) {
    auto const first = numa_nodes(first_, a);
    auto const second = numa_nodes(second_, b);
    auto const& name = first_.at(a).name;
    for (auto const& [number, cores] : first) {
      auto const other = second.find(number);
      auto const node = fmt::format("{} NUMA node {}", name, number);
      if (other == second.end())
        differ(DifferenceKind::Numa, node, "node", "present", kAbsent);
      else
        differ_if_both(DifferenceKind::Numa, node, "cores", cores, other->second);
    }
    for (auto const& [number, cores] : second)
      if (!first.contains(number))
        differ(DifferenceKind::Numa, fmt::format("{} NUMA node {}", name, number), "node", kAbsent, "present");
  }

  void compare_functions() {
    for (std::size_t a = 0; a < first_.functions.size(); ++a) {
      if (auto const b = match_.functions[a])
        compare_function(PciId(a), *b);
      else
        lacks(first_, PciId(a), true);
    }
    for (std::size_t b = 0; b < second_.functions.size(); ++b)
      if (!match_.functions_back[b]) lacks(second_, PciId(b), false);
  }

  // A port whose device is missing too is not worth a line.
  void lacks(Machine const& machine, PciId id, bool in_first) {
    auto const& function = machine.at(id);
    if (function.kind == PciKind::RootPort && std::any_of(machine.functions.begin(), machine.functions.end(),
                                                          [&](PciFunction const& child) { return child.parent == id; }))
      return;
    auto const* part = machine.part_of(id);
    auto const what = fmt::format("{}{}", part == nullptr ? to_string(function.kind) : std::string_view(part->name),
                                  function.bdf.empty() ? "" : " at " + function.bdf);
    differ(DifferenceKind::Device, function.name, std::string(to_string(function.kind)), in_first ? what : kAbsent,
           in_first ? kAbsent : what);
  }

  void compare_function(PciId a, PciId b) {
    auto const& first = first_.at(a);
    auto const& second = second_.at(b);
    note_name(first.name, second.name);
    compare_part(first.name, first_.part_of(a), second_.part_of(b));
    compare_place(a, b);
    if (first.kind == PciKind::RootPort) return;
    differ(DifferenceKind::Link, first.name, "link", trained(first_, a), trained(second_, b));
    differ(DifferenceKind::Link, first.name, "max", best(first_, a), best(second_, b));
    differ(DifferenceKind::Acs, first.name, "acs", known(first_.acs_above(a)), known(second_.acs_above(b)));
    if (first.kind != PciKind::Switch)
      differ(DifferenceKind::Numa, first.name, "numa", std::to_string(first_.at(first_.numa_of(a)).os_index),
             std::to_string(second_.at(second_.numa_of(b)).os_index));
    compare_fields(first, second);
  }

  static std::string trained(Machine const& machine, PciId id) {
    auto const link = machine.at(id).link ? machine.at(id).link : assumed_link(machine, id);
    return link ? to_string(*link) : std::string();
  }
  // What the link could be: no key says the same as what it is.
  static std::string best(Machine const& machine, PciId id) {
    auto const& function = machine.at(id);
    return function.max_link ? to_string(*function.max_link) : trained(machine, id);
  }

  void compare_fields(PciFunction const& first, PciFunction const& second) {
    constexpr std::array<std::string_view, 4> kWithOwnPlace{"link", "max", "acs", "chip"};
    for (auto const& field : function_fields()) {
      auto const& key = field.spec.name;
      if (std::find(kWithOwnPlace.begin(), kWithOwnPlace.end(), key) != kWithOwnPlace.end()) continue;
      if (field.only && *field.only != first.kind) continue;
      auto const kind = key == "firmware"                  ? DifferenceKind::Firmware
                        : field.not_in_fingerprint.empty() ? DifferenceKind::Setting
                                                           : DifferenceKind::Device;
      if (field.not_in_fingerprint.empty())
        differ(kind, first.name, key, said(field, first), said(field, second));
      else
        differ_if_both(kind, first.name, key, said(field, first), said(field, second));
    }
  }

  static std::string place_words(Machine const& machine, PciId id) {
    auto const parent = machine.at(id).parent;
    return parent ? "below " + machine.at(*parent).name : "on a root bus of " + machine.at(machine.socket_of(id)).name;
  }
  void compare_place(PciId a, PciId b) {
    auto const& name = first_.at(a).name;
    auto const above = first_.at(a).parent;
    auto const other = second_.at(b).parent;
    bool const same_socket = match_.sockets[index(first_.socket_of(a))] == second_.socket_of(b);
    if (above.has_value() != other.has_value() || (above && match_.functions[index(*above)] != other) ||
        (!above && !same_socket)) {
      add({DifferenceKind::Location, name, "above", place_words(first_, a), place_words(second_, b), {}, {}});
      return;
    }
    compare_chip(a, b);
  }

  // Virtual switches of one chip: which switch of the same chip comes first.
  static std::string chip_words(Machine const& machine, PciId id) {
    auto const& chip = machine.at(id).chip;
    if (chip.empty()) return "a chip of its own";
    std::vector<std::string> names;
    for (auto const& function : machine.functions)
      if (function.chip == chip && &function != &machine.at(id)) names.push_back(function.name);
    return names.empty() ? "a chip of its own" : fmt::format("one chip with {}", fmt::join(names, ", "));
  }
  void compare_chip(PciId a, PciId b) {
    if (first_.at(a).kind != PciKind::Switch) return;
    auto const same_chip = [](Machine const& machine, PciId x, PciId y) {
      return !machine.at(x).chip.empty() && machine.at(x).chip == machine.at(y).chip;
    };
    for (std::size_t i = 0; i < first_.functions.size(); ++i) {
      auto const j = match_.functions[i];
      if (!j || PciId(i) == a || same_chip(first_, a, PciId(i)) == same_chip(second_, b, *j)) continue;
      add({DifferenceKind::Location, first_.at(a).name, "chip", chip_words(first_, a), chip_words(second_, b), {}, {}});
      return;
    }
  }

  // Two ports that share a host bridge in one machine and not in the other.
  void compare_host_bridges() {
    std::map<HostBridgeId, PciId> first_of_bridge;
    std::map<HostBridgeId, PciId> first_of_other;
    for (std::size_t i = 0; i < first_.functions.size(); ++i) {
      auto const j = match_.functions[i];
      if (!j || first_.functions[i].parent || second_.at(*j).parent) continue;
      PciId const a{static_cast<std::uint32_t>(i)};
      auto const [mate, first_seen] = first_of_bridge.emplace(first_.at(a).host_bridge, a);
      auto const [other_mate, other_seen] = first_of_other.emplace(second_.at(*j).host_bridge, a);
      if (mate->second == other_mate->second) continue;
      auto const words = [&](bool alone, PciId with) {
        return alone ? std::string("its own") : "the same as " + first_.at(with).name;
      };
      add({DifferenceKind::Location,
           first_.at(a).name,
           "host_bridge",
           words(first_seen, mate->second),
           words(other_seen, other_mate->second),
           {},
           {}});
    }
  }

  static Part const* part_named(Machine const& machine, std::string const& name) {
    for (auto const& part : machine.parts)
      if (part.name == name) return &part;
    return nullptr;
  }
  // The figures of parts that both machines use under one name.
  void compare_parts() {
    for (auto const& part : first_.parts)
      if (part_named(second_, part.name) != nullptr) common_parts_.insert(part.name);
    for (auto const& name : common_parts_)
      for (auto& difference : part_differences(*part_named(first_, name), *part_named(second_, name)))
        add(std::move(difference));
  }

  [[nodiscard]] bool is_reordered() const {
    auto const descends = [](auto const& matches) {
      std::size_t last = 0;
      for (auto const& match : matches) {
        if (!match) continue;
        if (index(*match) < last) return true;
        last = index(*match);
      }
      return false;
    };
    return descends(match_.sockets) || descends(match_.functions);
  }

  Machine const& first_;
  Machine const& second_;
  DeviceMatching match_;
  std::set<std::string> common_parts_;
  std::vector<MachineDifference> differences_;
  std::vector<Renaming> renamed_;
};

}  // namespace

std::vector<MachineDifference> part_differences(Part const& first, Part const& second) {
  auto const subject = "part " + first.name;
  if (first.kind != second.kind)
    return {{DifferenceKind::Figure,
             subject,
             "kind",
             std::string(to_string(first.kind)),
             std::string(to_string(second.kind)),
             {},
             {}}};
  std::vector<MachineDifference> differences;
  for (auto const& field : part_fields(first.kind)) {
    if (!field.not_in_fingerprint.empty()) continue;  // titles and the like
    auto a = said(field, first);
    auto b = said(field, second);
    if (a != b)
      differences.push_back({DifferenceKind::Figure, subject, field.spec.name, std::move(a), std::move(b), {}, {}});
  }
  return differences;
}

NodeComparison compare_nodes(Machine const& first, Machine const& second) {
  return NodeComparer(first, second).compare();
}

}  // namespace lanewise
