#include "core/interop/machines/nccl/switches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace lanewise {
namespace {

// How many bridges were merged.
struct MergeCounts {
  int ports = 0;  // into the device below
  int views = 0;  // into the bridge above
};

// The level, 0 or 1, of a bridge of a Broadcom PEX88000 or PEX89000, which shows its virtual switches as two levels; -1
// for other bridges. The first digit of the subsystem's device id tells it (NCCL src/graph/topo.cc, getBcmGen()).
int broadcom_level(NcclPci const& bridge) {
  if (bridge.subsystem.size() != 9 || !bridge.subsystem.starts_with("1000:")) return -1;
  auto const digit = bridge.subsystem[5];
  if (bridge.id == "1000:c010") return digit == 'a' ? 0 : digit == 'e' ? 1 : -1;
  if (bridge.id == "1000:c030") return digit == '0' ? 0 : digit == '1' ? 1 : -1;
  return -1;
}

bool is_port_of_one_device(NcclPci const& bridge) {
  return bridge.is_bridge() && bridge.nets.empty() && bridge.below.size() == 1 && !bridge.below.front().is_bridge();
}

// AMD's accelerators show a bridge of their own above the GPU.
bool is_on_amd_card(NcclPci const& bridge) {
  if (!is_port_of_one_device(bridge) || bridge.is_virtual()) return false;
  auto const& device = bridge.below.front();
  return device.gpu && (!device.gpu->gcn.empty() || device.id.starts_with("1002:"));
}

bool is_same_switch(NcclPci const& upper, NcclPci const& lower) {
  if (!lower.is_bridge()) return false;
  if (upper.id == lower.id && broadcom_level(upper) == 0 && broadcom_level(lower) == 1) return true;
  return upper.below.size() == 1 && upper.nets.empty() && upper.id == lower.id;
}

// Limits a device's link to that of the port above it; 0 means not given.
void limit_link(NcclPci& device, NcclPci const& port) {
  auto const slower = [](int a, int b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); };
  device.generation = slower(device.generation, port.generation);
  device.width = slower(device.width, port.width);
}

void merge(NcclPci& upper, MergeCounts& merged) {
  for (auto& child : upper.below)
    if (child.is_bridge()) merge(child, merged);
  std::vector<NcclPci> below;
  for (auto& child : upper.below) {
    if (is_port_of_one_device(child)) {
      auto device = std::move(child.below.front());
      limit_link(device, child);
      below.push_back(std::move(device));
      ++merged.ports;
    } else if (is_same_switch(upper, child)) {
      std::move(child.below.begin(), child.below.end(), std::back_inserter(below));
      std::move(child.nets.begin(), child.nets.end(), std::back_inserter(upper.nets));
      ++merged.views;
    } else {
      below.push_back(std::move(child));
    }
  }
  upper.below = std::move(below);
}

}  // namespace

void merge_switch_views(NcclSystem& system) {
  MergeCounts merged;
  int on_cards = 0;
  for (auto& cpu : system.cpus)
    for (auto& top : cpu.pci) {
      if (top.is_bridge()) merge(top, merged);
      if (!is_on_amd_card(top)) continue;
      auto device = std::move(top.below.front());
      limit_link(device, top);
      top = std::move(device);
      ++on_cards;
    }
  if (on_cards > 0)
    system.notes.push_back(fmt::format(
        "inferred: {} bridges that hold one AMD GPU each are on the GPUs' cards, no switches of the board", on_cards));
  if (merged.ports > 0)
    system.notes.push_back(
        fmt::format("inferred: {} bridges below a switch that hold one device each are ports of that switch, or "
                    "bridges on the device's card",
                    merged.ports));
  if (merged.views > 0)
    system.notes.push_back(fmt::format(
        "inferred: {} bridges below a bridge of the same kind are a second view of the same switch", merged.views));
}

bool is_on_root_bus(NcclPci const& pci) {
  if (pci.is_bridge() || pci.bus_id.empty()) return false;
  auto const bus = pci.bus_id.substr(pci.bus_id.find(':') + 1);  // "3b:00.0"
  return bus.starts_with("00:") || bus.substr(3, 2) != "00";
}

}  // namespace lanewise
