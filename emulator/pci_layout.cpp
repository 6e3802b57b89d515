#include "emulator/pci_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lanewise/io/error.hpp"

namespace lanewise::emulator {
namespace {

constexpr int kBuses = 256;
constexpr int kSlots = 32;           // of a bus
constexpr int kLastBridgeSlot = 30;  // 31 is the chipset's

class PciLayoutBuilder {
 public:
  PciLayoutBuilder(Machine const& machine, HostId host)
      : machine_(machine), host_(host), children_(machine.functions.size()) {
    for (std::size_t i = 0; i < machine.functions.size(); ++i) {
      auto const& function = machine.functions[i];
      if (machine.host_of(PciId(i)) == host && function.parent) children_[index(*function.parent)].push_back(PciId(i));
    }
  }

  PciLayout build() {
    for (std::size_t i = 0; i < machine_.host_bridges.size(); ++i)
      if (machine_.at(machine_.at(HostBridgeId(i)).socket).host == host_) add_bridge(HostBridgeId(i));
    return std::move(layout_);
  }

 private:
  void add_bridge(HostBridgeId id) {
    bridge_ = id;
    std::vector<PciId> ports;
    for (std::size_t i = 0; i < machine_.functions.size(); ++i) {
      auto const& function = machine_.functions[i];
      if (function.host_bridge != id || function.parent) continue;
      // An expander's bus holds no endpoints, so those of a flat tree are put on the first root bus.
      if (function.kind == PciKind::RootPort)
        ports.push_back(PciId(i));
      else
        add(PciId(i), {"pcie.0", "pci0000:00", 0}, next_first_slot());
    }
    if (ports.empty()) return;
    auto const root = add_expander(id);
    int slot = 0;
    for (auto const port : ports) add(port, root, slot++);
  }

  // A bus to put devices on.
  struct Bus {
    std::string id;    // in QEMU
    std::string path;  // of the bridge above it, below /sys/devices
    int number = 0;
  };

  Bus add_expander(HostBridgeId id) {
    EmulatedDevice device;
    device.model = DeviceModel::HostBridge;
    device.id = fmt::format("bridge{}", index(id));
    device.bus = "pcie.0";
    device.slot = next_first_slot();
    device.bus_number = next_bus();
    device.address = fmt::format("0000:00:{:02x}.0", device.slot);
    device.bridge = id;
    layout_.devices.push_back(device);
    return {device.id, fmt::format("pci0000:{:02x}", device.bus_number), device.bus_number};
  }

  void add(PciId id, Bus const& bus, int slot) {
    auto const name = "pci." + name_in_host(machine_, id);
    switch (machine_.at(id).kind) {
      case PciKind::RootPort: return add_root_port(id, name, bus, slot);
      case PciKind::Switch: return add_switch(id, name, bus, slot);
      default: add_device(DeviceModel::Endpoint, name, bus, slot, id, std::nullopt);
    }
  }

  void add_root_port(PciId id, std::string const& name, Bus const& bus, int slot) {
    auto const& children = children_[index(id)];
    if (children.size() > 1)
      throw PlanError(fmt::format("'{}' has {} devices, but a port holds one", machine_.at(id).name, children.size()));
    auto const below = children.empty() ? std::nullopt : std::optional(children.front());
    auto const inner = add_device(DeviceModel::RootPort, name, bus, slot, id, below);
    if (below) add(*below, inner, 0);
  }

  void add_switch(PciId id, std::string const& name, Bus const& bus, int slot) {
    auto const inside = add_device(DeviceModel::SwitchUpstream, name, bus, slot, id, std::nullopt);
    int port = 0;
    for (auto const child : children_[index(id)]) {
      auto const inner = add_device(DeviceModel::SwitchDownstream, fmt::format("{}.port{}", name, port), inside, port,
                                    std::nullopt, child);
      add(child, inner, 0);
      ++port;
    }
  }

  // Adds a device. Returns the bus below it, which is valid for bridges only.
  Bus add_device(DeviceModel model, std::string const& id, Bus const& bus, int slot, std::optional<PciId> function,
                 std::optional<PciId> below) {
    if (slot >= kSlots) refuse("devices on one bus", kSlots);
    EmulatedDevice device;
    device.model = model;
    device.id = id;
    std::replace(device.id.begin(), device.id.end(), '/', '.');
    device.bus = bus.id;
    device.slot = slot;
    device.address = fmt::format("0000:{:02x}:{:02x}.0", bus.number, slot);
    device.path = bus.path + "/" + device.address;
    device.bridge = bridge_;
    device.function = function;
    device.below = below;
    if (model != DeviceModel::Endpoint) device.bus_number = next_bus();
    Bus inner{device.id, device.path, device.bus_number};
    layout_.devices.push_back(std::move(device));
    return inner;
  }

  int next_first_slot() {
    if (next_first_slot_ > kLastBridgeSlot)
      refuse("host bridges and devices on the root bus", kLastBridgeSlot - kFirstBridgeSlot + 1);
    return next_first_slot_++;
  }

  int next_bus() {
    if (next_bus_ >= kBuses) refuse("PCI buses", kBuses);
    return next_bus_++;
  }

  [[noreturn]] void refuse(std::string_view what, int most) const {
    throw PlanError(fmt::format("'{}' cannot be emulated: it needs more than the {} {} that the emulated PC has",
                                machine_.at(host_).machine, most, what));
  }

  Machine const& machine_;
  HostId host_;
  std::vector<std::vector<PciId>> children_;
  PciLayout layout_;
  HostBridgeId bridge_{};                   // the one that is being added
  int next_first_slot_ = kFirstBridgeSlot;  // on the first root bus
  int next_bus_ = 1;                        // bus 0 is the chipset's own
};

}  // namespace

PciLayout pci_layout(Machine const& machine, HostId host) { return PciLayoutBuilder(machine, host).build(); }

std::string name_in_host(Machine const& machine, PciId id) {
  auto const& name = machine.at(id).name;
  auto const& host = machine.at(machine.host_of(id)).name;
  return !host.empty() && name.starts_with(host + "/") ? name.substr(host.size() + 1) : name;
}

}  // namespace lanewise::emulator
