#include "core/interop/exports/pci_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <stdexcept>

#include "core/interop/machines/roles.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

constexpr int kBusesOfDomain = 256;

// Domain and bus of "0000:3b:00.0" as one number; -1: no address.
int bus_of(std::string_view bdf) {
  if (!is_pci_address(bdf)) return -1;
  int domain = 0;
  int bus = 0;
  std::from_chars(bdf.data(), bdf.data() + 4, domain, 16);
  std::from_chars(bdf.data() + 5, bdf.data() + 7, bus, 16);
  return domain * kBusesOfDomain + bus;
}
std::string bus_text(int bus) { return fmt::format("{:04x}:{:02x}", bus / kBusesOfDomain, bus % kBusesOfDomain); }

class LayoutMaker {
 public:
  explicit LayoutMaker(Machine const& machine) : machine_(machine), below_(machine.functions.size()) {
    for (std::size_t i = 0; i < machine.functions.size(); ++i) {
      auto const& function = machine.functions[i];
      if (function.parent) below_[index(*function.parent)].push_back(PciId(i));
      if (auto const bus = bus_of(function.bdf); bus >= 0) {
        taken_.insert(bus);
        addresses_.insert(function.bdf);
      }
    }
  }

  PciLayout make() {
    for (std::size_t i = 0; i < machine_.host_bridges.size(); ++i) add_bridge(HostBridgeId(i));
    return std::move(layout_);
  }

 private:
  int next_bus(int from) {
    while (taken_.contains(from)) ++from;
    taken_.insert(from);
    return from;
  }

  // The lowest known bus below a function; -1: none is known.
  [[nodiscard]] int lowest_bus(PciId id) const {
    auto lowest = bus_of(machine_.at(id).bdf);
    for (auto const child : below_[index(id)])
      if (auto const bus = lowest_bus(child); bus >= 0 && (lowest < 0 || bus < lowest)) lowest = bus;
    return lowest;
  }

  // Discovery calls bridges "pci0000-3a". Else the root bus comes before the buses of its devices.
  int root_bus(HostBridgeId id, std::vector<PciId> const& tops) {
    auto name = machine_.at(id).name;
    if (name.size() == 10 && name.starts_with("pci") && name[7] == '-') {
      name[7] = ':';
      if (auto const bus = bus_of(name.substr(3) + ":00.0"); bus >= 0 && used_roots_.insert(bus).second) {
        taken_.insert(bus);
        return bus;
      }
    }
    int lowest = -1;
    for (auto const top : tops)
      if (auto const bus = lowest_bus(top); bus >= 0 && (lowest < 0 || bus < lowest)) lowest = bus;
    bool const flat = lowest >= 0 && std::any_of(tops.begin(), tops.end(), [&](PciId top) {
                        return machine_.at(top).kind != PciKind::RootPort && bus_of(machine_.at(top).bdf) == lowest;
                      });
    auto bus = lowest < 0 ? last_ + 1 : flat ? lowest : lowest - 1;
    if (!flat)
      while (bus > 0 && lowest >= 0 && taken_.contains(bus)) --bus;
    if (!flat && (bus < 0 || taken_.contains(bus))) bus = next_bus(std::max(last_ + 1, 0));
    taken_.insert(bus);
    used_roots_.insert(bus);
    return bus;
  }

  void add_bridge(HostBridgeId id) {
    std::vector<PciId> tops;
    for (std::size_t i = 0; i < machine_.functions.size(); ++i)
      if (!machine_.functions[i].parent && machine_.functions[i].host_bridge == id) tops.push_back(PciId(i));
    auto const bus = root_bus(id, tops);
    last_ = std::max(last_, bus);
    layout_.root_buses.push_back(bus_text(bus));
    for (auto const top : tops) add_top(top, id, bus);
  }

  std::string free_address(int bus) {
    constexpr int kDevices = 32;
    constexpr int kFunctions = 8;
    for (int number = 0; number < kDevices * kFunctions; ++number) {
      auto address = fmt::format("{}:{:02x}.{:x}", bus_text(bus), number % kDevices, number / kDevices);
      if (addresses_.insert(address).second) return address;
    }
    throw PlanError(fmt::format("'{}' has more devices on one PCI bus than there are addresses", machine_.name));
  }

  std::size_t enter(ExportedPort port, PciId id, std::optional<std::size_t> parent, std::string address) {
    layout_.functions.push_back({port, id, parent, machine_.at(id).host_bridge, std::move(address), 0, 0});
    return layout_.functions.size() - 1;
  }

  void add_top(PciId top, HostBridgeId /*bridge*/, int root) {
    auto const& function = machine_.at(top);
    if (function.kind != PciKind::RootPort) {
      if (function.kind == PciKind::Switch) return add_below(top, std::nullopt, root);
      enter(ExportedPort::Endpoint, top, std::nullopt, function.bdf.empty() ? free_address(root) : function.bdf);
      return;
    }
    auto const port = enter(ExportedPort::RootPort, top, std::nullopt, free_address(root));
    add_children(port, below_[index(top)], root);
  }

  // Everything below a port is on one new bus.
  void add_children(std::size_t port, std::vector<PciId> const& children, int from) {
    int bus = -1;
    for (auto const child : children)
      if (bus < 0) bus = bus_of(machine_.at(child).bdf);
    if (bus < 0) bus = next_bus(from + 1);
    layout_.functions[port].secondary = bus % kBusesOfDomain;
    last_ = std::max(last_, bus);
    for (auto const child : children) add_below(child, port, bus);
    layout_.functions[port].subordinate = std::max(last_, bus) % kBusesOfDomain;
  }

  void add_below(PciId id, std::optional<std::size_t> parent, int bus) {
    auto const& function = machine_.at(id);
    auto address = function.bdf.empty() ? free_address(bus) : function.bdf;
    if (function.kind != PciKind::Switch) {
      enter(ExportedPort::Endpoint, id, parent, std::move(address));
      return;
    }
    auto const upstream = enter(ExportedPort::SwitchUpstream, id, parent, std::move(address));
    auto const inner = next_bus(bus + 1);
    last_ = std::max(last_, inner);
    layout_.functions[upstream].secondary = inner % kBusesOfDomain;
    for (auto const child : below_[index(id)]) {
      auto const port = enter(ExportedPort::SwitchDownstream, child, upstream, free_address(inner));
      add_children(port, {child}, inner);
    }
    layout_.functions[upstream].subordinate = last_ % kBusesOfDomain;
  }

  Machine const& machine_;
  std::vector<std::vector<PciId>> below_;
  std::set<int> taken_;
  std::set<int> used_roots_;
  std::set<std::string> addresses_;
  int last_ = -1;
  PciLayout layout_;
};

}  // namespace

PciLayout pci_layout(Machine const& machine) {
  if (machine.hosts.size() != 1)
    throw PlanError(
        fmt::format("'{}' is a cluster of {} nodes; name the machine of one", machine.name, machine.hosts.size()));
  return LayoutMaker(machine).make();
}

std::string const& address_of(PciLayout const& layout, PciId device) {
  for (auto const& entry : layout.functions)
    if (entry.function == device && entry.port == ExportedPort::Endpoint) return entry.bdf;
  throw std::logic_error("a device is missing in the layout of its machine");
}

}  // namespace lanewise
