// Causes in the network between nodes and in the firmware.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/diagnosis/hypothesis_groups.hpp"

namespace lanewise {

std::vector<Hypothesis> fabric_hypotheses(Machine const& machine, Catalogue& catalogue) {
  std::vector<Hypothesis> found;
  auto const& fabric = *machine.fabric;
  if (fabric.trunks.empty()) return found;
  bool const is_spread = std::any_of(fabric.networks.begin(), fabric.networks.end(),
                                     [](auto const& network) { return network.routing == Routing::Adaptive; });
  if (is_spread) {
    auto hashed = hypothesis_of(CauseKind::Fabric, "", "the network sends each flow over one cable, chosen by a hash");
    hashed.check =
        "adaptive routing or packet spraying of switches and NICs (ROCE_ADAPTIVE_ROUTING, NCCL_IB_QPS_PER_CONNECTION, "
        "NCCL_IB_SPLIT_DATA_ON_QPS); counters of the leaves' uplinks differ from each other";
    hashed.settings = {{"routing", "ecmp"}};
    hashed.change = applying(hashed.settings.front(), catalogue);
    found.push_back(std::move(hashed));
  }
  for (int const share : {2, 4}) {
    auto h = hypothesis_of(CauseKind::Fabric, "",
                           fmt::format("between the switches the network has a {} of the described cables",
                                       share == 2 ? "half" : "quarter"));
    h.check =
        "ibdiagnet or the switches' port states: uplinks that are down, slower or used by others; oversubscription";
    h.change = [share](Machine& changed) {
      for (auto& trunk : changed.fabric->trunks) {
        auto const left = std::max(1, trunk.cables / share);
        if (trunk.cables > 0) trunk.rate = trunk.rate * (static_cast<double>(left) / trunk.cables);
        trunk.cables = left;
      }
    };
    found.push_back(std::move(h));
  }
  return found;
}

std::vector<Hypothesis> no_data_direct(Machine const& machine, Catalogue& catalogue) {
  // Two DGX Stations with GB300: 26.62 GB/s each way of a NIC of 400 Gb/s, 48.73 with Data Direct (all-reduces of 2
  // GiB, measurements/published/dgx-station-gb300-2-perftest.yaml).
  constexpr auto kThroughCpu = "217 Gb/s";
  auto h = hypothesis_of(CauseKind::DataDirect, "", "Data Direct is not used: NICs reach the GPUs through the CPU");
  h.check =
      "NCCL_DEBUG=INFO: 'Data Direct DMA Interface is detected'; NCCL_IB_DATA_DIRECT; the devices that a container is "
      "given";
  std::vector<std::function<void(Machine&)>> changes;
  for (auto const nic : machine.all(PciKind::Nic)) {
    auto const& port = machine.at(nic).port_of;
    if (port.empty() || machine.is_off(nic)) continue;
    h.settings.push_back({"rate@" + port, kThroughCpu});
    changes.push_back(applying(h.settings.back(), catalogue));
  }
  if (changes.empty()) return {};
  h.change = [changes = std::move(changes)](Machine& changed) {
    for (auto const& change : changes) change(changed);
  };
  return {std::move(h)};
}

std::vector<Hypothesis> small_bar1(Machine const& machine, std::set<std::size_t> const& functions) {
  constexpr Bytes kWithoutResizing{std::int64_t{256} << 20};  // the size that firmware gives without a resizable BAR
  std::set<std::size_t> parts;
  for (auto const at : functions) {
    auto const& function = machine.functions.at(at);
    if (function.kind != PciKind::Gpu || !function.part) continue;
    auto const& bar1 = machine.at(*function.part).gpu.bar1;
    if (bar1 && *bar1 > kWithoutResizing) parts.insert(index(*function.part));
  }
  if (parts.empty()) return {};
  auto h = hypothesis_of(CauseKind::Bar1, "", "BAR1 of the GPUs maps 256 MiB only");
  h.check = "nvidia-smi -q, BAR1 Memory Usage: Total; firmware options Above 4G Decoding and Resizable BAR";
  h.change = [parts, kWithoutResizing](Machine& changed) {
    for (auto const part : parts) changed.parts.at(part).gpu.bar1 = kWithoutResizing;
  };
  return {std::move(h)};
}

}  // namespace lanewise
