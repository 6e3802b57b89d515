#include "core/machine/comparison/link_comparison.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace lanewise {
namespace {

// Bonded links between two ends, by "gpu0 - gpu1" in the names of the first machine: count and part.
struct Bond {
  int count = 0;
  std::string part;
};
using Bonds = std::map<std::string, Bond>;

class LinkComparer {
 public:
  LinkComparer(Machine const& first, Machine const& second, DeviceMatching const& matching)
      : first_(first), second_(second), match_(matching) {}

  std::vector<MachineDifference> differences() {
    compare(socket_bonds(first_, false), socket_bonds(second_, true), DifferenceKind::SocketLink);
    compare(nvlink_bonds(first_, false), nvlink_bonds(second_, true), DifferenceKind::Nvlink);
    compare(switch_bonds(first_, false), switch_bonds(second_, true), DifferenceKind::Nvlink);
    return std::move(differences_);
  }

 private:
  [[nodiscard]] std::string name(Machine const& machine, SocketId id, bool of_second) const {
    auto const back = of_second ? match_.sockets_back[index(id)] : std::nullopt;
    return back ? first_.at(*back).name : machine.at(id).name;
  }
  [[nodiscard]] std::string name(Machine const& machine, PciId id, bool of_second) const {
    auto const back = of_second ? match_.functions_back[index(id)] : std::nullopt;
    return back ? first_.at(*back).name : machine.at(id).name;
  }
  [[nodiscard]] std::string name(Machine const& machine, NvlinkEnd const& end, bool of_second) const {
    return std::visit([&](auto id) { return name(machine, id, of_second); }, end);
  }
  static std::string between(std::string a, std::string b) {
    if (b < a) std::swap(a, b);
    return fmt::format("{} - {}", a, b);
  }
  static void enter(Bonds& bonds, std::string const& ends, int count, std::string const& part) {
    auto& bond = bonds[ends];
    bond.count += count;
    if (bond.part.empty() || part < bond.part) bond.part = part;
  }

  [[nodiscard]] Bonds socket_bonds(Machine const& machine, bool of_second) const {
    Bonds bonds;
    for (auto const& link : machine.socket_links)
      enter(bonds, between(name(machine, link.a, of_second), name(machine, link.b, of_second)), link.count,
            machine.at(link.part).name);
    return bonds;
  }
  [[nodiscard]] Bonds nvlink_bonds(Machine const& machine, bool of_second) const {
    Bonds bonds;
    for (auto const& bundle : machine.nvlinks)
      enter(bonds, between(name(machine, bundle.a, of_second), name(machine, bundle.b, of_second)), bundle.count,
            machine.at(bundle.part).name);
    return bonds;
  }
  [[nodiscard]] Bonds switch_bonds(Machine const& machine, bool of_second) const {
    Bonds bonds;
    for (auto const& domain : machine.nvswitches)
      for (auto const& port : domain.ports)
        enter(bonds, name(machine, port.gpu, of_second) + " - NVSwitch", port.count, machine.at(domain.link_part).name);
    return bonds;
  }

  void compare(Bonds const& first, Bonds const& second, DifferenceKind kind) {
    auto const text = [](Bond const& bond) { return fmt::format("{} x{}", bond.part, bond.count); };
    auto const add = [&](std::string const& ends, std::string const& key, std::string a, std::string b) {
      if (a != b) differences_.push_back({kind, ends, key, std::move(a), std::move(b), {}, {}});
    };
    for (auto const& [ends, bond] : first) {
      auto const other = second.find(ends);
      if (other == second.end()) {
        add(ends, "links", text(bond), "absent");
        continue;
      }
      add(ends, "part", bond.part, other->second.part);
      add(ends, "count", std::to_string(bond.count), std::to_string(other->second.count));
    }
    for (auto const& [ends, bond] : second)
      if (!first.contains(ends)) add(ends, "links", "absent", text(bond));
  }

  Machine const& first_;
  Machine const& second_;
  DeviceMatching const& match_;
  std::vector<MachineDifference> differences_;
};

}  // namespace

std::vector<MachineDifference> link_differences(Machine const& first, Machine const& second,
                                                DeviceMatching const& matching) {
  return LinkComparer(first, second, matching).differences();
}

}  // namespace lanewise
