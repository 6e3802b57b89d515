#include "core/machine/files/budgets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/machine/nic_rate.hpp"
#include "core/machine/path_class.hpp"

namespace lanewise {
namespace {

// What the links of one owner take of its lanes.
struct Budget {
  int taken = 0;
  std::vector<std::string> takers;  // "gpu0 x16"

  void take(std::string const& name, int lanes) {
    taken += lanes;
    takers.push_back(fmt::format("{} x{}", name, lanes));
  }
};

std::string sentence(std::string_view owner, Part const& part, int lanes, Budget const& budget) {
  constexpr std::size_t kMaxListed = 12;
  auto const listed = std::min(budget.takers.size(), kMaxListed);
  return fmt::format(
      "{} has {} PCIe lanes ({}), and its links take {}: {}{}", owner, lanes, part.name, budget.taken,
      fmt::join(budget.takers.begin(), budget.takers.begin() + static_cast<std::ptrdiff_t>(listed), ", "),
      listed < budget.takers.size() ? ", ..." : "");
}

class LaneBudgets {
 public:
  explicit LaneBudgets(Machine const& machine)
      : machine_(machine),
        counts_assumed_(std::none_of(machine.notes.begin(), machine.notes.end(), [](std::string const& note) {
          // What importers write: the tree was inferred, or the links that are left out were not known.
          return note.starts_with("inferred:") || note.starts_with("missing:") ||
                 note.find("PCIe link") != std::string::npos;
        })) {}

  std::vector<std::string> exceeded() {
    for (std::size_t i = 0; i < machine_.functions.size(); ++i) enter(PciId(i));
    std::vector<std::string> found;
    for (auto const& [socket, budget] : of_sockets_) {
      auto const* part = machine_.part_of(socket);
      if (part != nullptr && part->cpu.lanes && budget.taken > *part->cpu.lanes)
        found.push_back(sentence(machine_.at(socket).name, *part, *part->cpu.lanes, budget));
    }
    for (auto const& [chip, budget] : of_chips_) {
      auto const* part = machine_.part_of(first_of_chip_.at(chip));
      if (part != nullptr && part->pcie_switch.lanes && budget.taken > *part->pcie_switch.lanes)
        found.push_back(sentence(chip, *part, *part->pcie_switch.lanes, budget));
    }
    return found;
  }

  std::vector<LaneUse> uses() {
    for (std::size_t i = 0; i < machine_.functions.size(); ++i) enter(PciId(i));
    std::vector<LaneUse> found;
    for (auto const& [socket, budget] : of_sockets_) {
      auto const* part = machine_.part_of(socket);
      found.push_back({machine_.at(socket).name, budget.taken, part != nullptr ? part->cpu.lanes : std::nullopt});
    }
    for (auto const& [chip, budget] : of_chips_) {
      auto const* part = machine_.part_of(first_of_chip_.at(chip));
      found.push_back({chip, budget.taken, part != nullptr ? part->pcie_switch.lanes : std::nullopt});
    }
    return found;
  }

 private:
  [[nodiscard]] std::string chip_of(PciId id) const {
    auto const& function = machine_.at(id);
    return function.chip.empty() ? function.name : function.chip;
  }

  [[nodiscard]] int lanes_of(PciId id) const {
    auto const& link = machine_.at(id).link;
    if (link) return link->width;
    auto const assumed = counts_assumed_ ? assumed_link(machine_, id) : std::nullopt;
    return assumed ? assumed->width : 0;
  }

  // A link takes lanes of the CPU or the switch above it, and below it of the switch whose uplink it is. A root port is
  // the upper end of the link of what is below it.
  void enter(PciId id) {
    auto const& function = machine_.at(id);
    if (function.kind == PciKind::RootPort) return;
    auto const lanes = lanes_of(id);
    if (lanes == 0) return;
    if (function.kind == PciKind::Switch) take_of_chip(id, "uplink", lanes);
    if (function.parent && machine_.at(*function.parent).kind == PciKind::Switch)
      take_of_chip(*function.parent, function.name, lanes);
    else
      of_sockets_[machine_.socket_of(id)].take(function.name, lanes);
  }

  void take_of_chip(PciId at, std::string const& name, int lanes) {
    first_of_chip_.try_emplace(chip_of(at), at);
    of_chips_[chip_of(at)].take(name, lanes);
  }

  Machine const& machine_;
  bool counts_assumed_;
  std::map<SocketId, Budget> of_sockets_;
  std::map<std::string, Budget> of_chips_;
  std::map<std::string, PciId> first_of_chip_;
};

}  // namespace

std::vector<std::string> exceeded_lanes(Machine const& machine) {
  if (machine.hosts.front().settings.virtualization.passthrough) return {};
  // What importers write of a source that shows too many links.
  bool const is_noted = std::any_of(machine.notes.begin(), machine.notes.end(), [](std::string const& note) {
    return note.starts_with("contradiction:") && note.find("PCIe lanes (") != std::string::npos;
  });
  if (is_noted) return {};
  return LaneBudgets(machine).exceeded();
}

std::vector<LaneUse> lane_uses(Machine const& machine) { return LaneBudgets(machine).uses(); }

std::vector<std::string> exceeded_ports(Machine const& cluster, Fabric const& fabric) {
  std::vector<double> taken(fabric.switches.size(), 0);
  std::vector<std::size_t> nics(fabric.switches.size(), 0);
  std::vector<bool> cables(fabric.switches.size(), false);
  auto const ports_of_rate = [&](std::uint32_t at) -> std::optional<BytesPerSecond> {
    auto const& part = fabric.switches[at].part;
    return part && cluster.at(*part).hop.ports ? cluster.at(*part).hop.rate : std::nullopt;
  };
  for (auto const& attachment : fabric.attachments) {
    if (!cluster.at(attachment.nic).port_of.empty()) continue;
    constexpr double kMaxSplit = 4;  // of one port, to slower cables
    auto const port = ports_of_rate(attachment.at);
    auto const rate = cable_rate(cluster, attachment).value_or(BytesPerSecond(0));
    ++nics[attachment.at];
    if (port)
      taken[attachment.at] += 1 / (rate > BytesPerSecond(0) ? std::clamp(std::floor(*port / rate), 1.0, kMaxSplit) : 1);
  }
  for (auto const& trunk : fabric.trunks)
    for (auto const end : {trunk.lower, trunk.upper})
      if (auto const port = ports_of_rate(end)) {
        taken[end] += trunk.rate / *port;
        cables[end] = true;
      }
  for (std::uint32_t at = 0; at < fabric.switches.size(); ++at) {
    auto const& [name, tier, count, part, network, group] = fabric.switches[at];
    if (!ports_of_rate(at) || count == 0) continue;
    constexpr double kRounding = 1e-9;
    auto const ports = static_cast<int>(std::ceil(taken[at] - kRounding));
    auto const there = *cluster.at(*part).hop.ports * count;
    if (ports <= there) continue;
    auto const whose = count > 1 ? fmt::format("{}'s {} switches have", name, count) : fmt::format("{} has", name);
    std::vector<std::string> takers;
    if (nics[at] > 0) takers.push_back(fmt::format("{} NICs", nics[at]));
    if (cables[at]) takers.emplace_back("the cables to other switches");
    return {fmt::format("{} {} ports ({}), and {} take {}", whose, there, cluster.at(*part).name,
                        fmt::join(takers, " and "), ports)};
  }
  return {};
}

}  // namespace lanewise
