#include "lanewise/model/resources/demand.hpp"

#include <array>

namespace lanewise {

std::string_view to_string(ResourceKind kind) {
  constexpr std::array<std::string_view, 19> kNames{
      "pcie_link",          "chip_fabric", "host_bridge", "host_writes", "host_reads",  "host_traffic",
      "host_bridge_memory", "host_memory", "socket_link", "socket_peer", "iommu",       "nvlink",
      "device_memory",      "wire",        "uplink",      "drive",       "host_duplex", "driver_staging",
      "nvlink_both"};
  return kNames.at(static_cast<std::size_t>(kind));
}

Parameter parameter_of(ResourceKind kind) {
  switch (kind) {
    case ResourceKind::PcieLink: return Parameter::LinkUtilisation;
    case ResourceKind::ChipFabric: return Parameter::SwitchFabric;
    case ResourceKind::HostBridge: return Parameter::RootComplexPeer;
    case ResourceKind::HostWrites: return Parameter::HostWrites;
    case ResourceKind::HostReads: return Parameter::HostReads;
    case ResourceKind::HostTraffic: return Parameter::HostTraffic;
    case ResourceKind::BridgeMemory: return Parameter::BridgeMemory;
    case ResourceKind::Memory: return Parameter::HostMemory;
    case ResourceKind::SocketLink:
    case ResourceKind::SocketPeer: return Parameter::SocketPeer;
    case ResourceKind::Iommu: return Parameter::IommuWalks;
    case ResourceKind::Nvlink: return Parameter::NvlinkEfficiency;
    case ResourceKind::NvlinkBoth: return Parameter::NvlinkDuplex;
    case ResourceKind::DeviceMemory: return Parameter::DeviceMemory;
    case ResourceKind::Wire:
    case ResourceKind::Uplink: return Parameter::NetworkRate;
    case ResourceKind::Drive: return Parameter::DriveRate;
    case ResourceKind::HostDuplex: return Parameter::HostDuplex;
    case ResourceKind::DriverStaging: return Parameter::DriverStaging;
  }
  return Parameter::LinkUtilisation;
}

double assumed_share(Resource const& resource, Assumptions const& assumed) {
  auto const kind = resource.kind;
  auto own = assumed(parameter_of(kind));
  if (auto const end = assumed(Parameter::GenericParts); end != 1)
    own *= end < 1 ? resource.generic_low : resource.generic_high;
  if (kind == ResourceKind::NvlinkBoth) return own * assumed(Parameter::NvlinkEfficiency);
  bool const of_a_link = kind == ResourceKind::HostDuplex || kind == ResourceKind::DriverStaging;
  return of_a_link ? own * assumed(Parameter::LinkUtilisation) : own;
}

double assumed_latency_share(Part const* part, Assumptions const& assumed) {
  auto const end = assumed(Parameter::GenericLatencies);
  if (end == 1 || part == nullptr || !part->latency_spread) return 1;
  return end < 1 ? 1 / *part->latency_spread : *part->latency_spread;
}

int assumed_slots(Engine const& engine, Assumptions const& assumed) {
  auto const end = assumed(Parameter::CopyEngines);
  if (end == 1 || !engine.is_assumed()) return engine.slots;
  return end < 1 ? engine.fewest : engine.most;
}

std::string_view to_string(Cap cap) {
  constexpr std::array<std::string_view, 18> kNames{"nothing",
                                                    "outstanding reads",
                                                    "peer reads through the root complex",
                                                    "packet payload",
                                                    "time between chunks",
                                                    "one CPU core",
                                                    "BAR1 writes",
                                                    "BAR1 reads",
                                                    "RDMA read",
                                                    "message rate",
                                                    "two legs in turn",
                                                    "IOMMU walks",
                                                    "page migration",
                                                    "one queue pair",
                                                    "one core at its socket",
                                                    "thread blocks of the kernel",
                                                    "one cable of the network",
                                                    "a measured override"};
  return kNames.at(static_cast<std::size_t>(cap));
}

}  // namespace lanewise
