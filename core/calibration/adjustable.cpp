#include "core/calibration/adjustable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/machine/end_name.hpp"
#include "core/model/resources/figures.hpp"
#include "core/model/resources/network.hpp"
#include "core/model/resources/overheads.hpp"
#include "core/model/resources/pcie.hpp"

namespace lanewise {
namespace {

using Number = std::optional<double>;

constexpr double kAll = 1.0;    // no more than every byte on the wire is payload
constexpr double kTwice = 1.0;  // both directions together carry at most twice one
struct Shared {};
constexpr Shared kShared{};

Number number(double value) { return value; }
template <class Tag>
Number number(Quantity<Tag, double> quantity) {
  return quantity.value();
}
template <class Value>
Number number(std::optional<Value> const& value) {
  return value ? number(*value) : std::nullopt;
}

constexpr Dimension unit_of(std::optional<double> const*) { return Dimension::Ratio; }
constexpr Dimension unit_of(std::optional<Seconds> const*) { return Dimension::Time; }
constexpr Dimension unit_of(std::optional<BytesPerSecond> const*) { return Dimension::Rate; }

// A key that sets an optional member of a group of a part's figures.
template <auto Group, auto Member>
AdjustableFigure figure(PartKind kind, std::string_view key, Parameter parameter, Number (*value)(Part const&),
                        double upper_limit = std::numeric_limits<double>::infinity()) {
  using Stored = std::remove_cvref_t<decltype((std::declval<Part&>().*Group).*Member)>;
  auto const set = [](Part& part, double to) { (part.*Group).*Member = typename Stored::value_type(to); };
  return {kind, key, unit_of(static_cast<Stored const*>(nullptr)), parameter, upper_limit, false, value, set};
}
template <auto Group, auto Member>
AdjustableFigure figure(PartKind kind, std::string_view key, Parameter parameter, Number (*value)(Part const&),
                        Shared) {
  auto made = figure<Group, Member>(kind, key, parameter, value);
  made.shared = true;
  return made;
}

// Default for the generation in the datasheet of the part; the model uses the generation of each link.
Number utilisation(Part const& part, bool upward) {
  return part.pcie.link ? number(figures::link_utilisation(&part, upward, part.pcie.link->generation)) : std::nullopt;
}

// Default for the newest generation of its root ports; the model uses the generation of each link.
Number host_duplex(Part const& cpu) {
  if (!cpu.cpu.host_duplex && !cpu.cpu.root_port_generation) return kTwice;
  return std::min(kTwice, figures::host_duplex(&cpu, cpu.cpu.root_port_generation.value_or(0)));
}

// Only for links between GPUs, which have SMs at both ends.
Number between_gpus(Part const& link, double value) {
  bool const joins = link.link.family == LinkFamily::NvLink || link.link.family == LinkFamily::GpuXgmi;
  return joins ? Number(value) : std::nullopt;
}

// A drive that its link bounds could be anything faster. The fit begins where the link just does not bound it, so that
// it sees what a slower drive would do.
Number drive_rate(Part const& drive, std::optional<BytesPerSecond> stated, bool reads) {
  constexpr double kBelowTheLink = 0.97;
  constexpr Bytes kUsualPayload{256};
  if (!stated || !drive.pcie.link) return number(stated);
  auto const link = pcie::capacity(*drive.pcie.link, drive.pcie.max_payload.value_or(kUsualPayload),
                                   figures::link_utilisation(&drive, reads, drive.pcie.link->generation));
  return number(std::min(*stated, link * kBelowTheLink));
}

// Only of adapters that do no RDMA, whose messages go through the kernel's sockets.
Number of_sockets(Part const& nic, double value) { return nic.nic.rdma ? std::nullopt : Number(value); }

std::vector<AdjustableFigure> all() {
  return {
      figure<&Part::gpu, &GpuFigures::copy_start>(PartKind::Gpu, "copy_start", Parameter::EngineStart,
                                                  [](Part const& p) { return number(figures::copy_start(&p)); }),
      figure<&Part::gpu, &GpuFigures::host_copy_start>(
          PartKind::Gpu, "host_copy_start", Parameter::EngineStart,
          [](Part const& p) { return number(figures::host_copy_start(&p)); }),
      figure<&Part::gpu, &GpuFigures::local_copy_start>(
          PartKind::Gpu, "local_copy_start", Parameter::EngineStart,
          [](Part const& p) { return number(figures::local_copy_start(&p)); }),
      figure<&Part::gpu, &GpuFigures::kernel_start>(PartKind::Gpu, "kernel_start", Parameter::EngineStart,
                                                    [](Part const& p) { return number(figures::kernel_start(&p)); }),
      figure<&Part::gpu, &GpuFigures::pulled_start>(PartKind::Gpu, "pulled_start", Parameter::EngineStart,
                                                    [](Part const& p) { return number(figures::pulled_start(&p)); }),
      figure<&Part::gpu, &GpuFigures::chunk_gap>(PartKind::Gpu, "chunk_gap", Parameter::EngineStart,
                                                 [](Part const& p) { return number(figures::chunk_gap(&p)); }),
      figure<&Part::gpu, &GpuFigures::staged_start>(PartKind::Gpu, "staged_start", Parameter::HostWork,
                                                    [](Part const& p) { return number(figures::staged_start(&p)); }),
      figure<&Part::gpu, &GpuFigures::staged_gap>(PartKind::Gpu, "staged_gap", Parameter::HostWork,
                                                  [](Part const& p) { return number(figures::staged_gap(&p)); }),
      figure<&Part::gpu, &GpuFigures::staged_duplex>(
          PartKind::Gpu, "staged_duplex", Parameter::DriverStaging,
          [](Part const& p) { return number(figures::staged_duplex(&p)); }, kTwice),
      figure<&Part::gpu, &GpuFigures::memory_efficiency>(PartKind::Gpu, "memory_efficiency", Parameter::DeviceMemory,
                                                         [](Part const& p) {
                                                           return p.gpu.memory_bandwidth
                                                                      ? number(figures::device_memory_efficiency(&p))
                                                                      : std::nullopt;
                                                         }),
      figure<&Part::pcie, &PcieFigures::latency>(PartKind::Gpu, "latency", Parameter::PathLatency,
                                                 [](Part const& p) { return number(figures::endpoint_latency(&p)); }),
      figure<&Part::pcie, &PcieFigures::link_utilisation_up>(PartKind::Gpu, "link_utilisation_up",
                                                             Parameter::LinkUtilisation,
                                                             [](Part const& p) { return utilisation(p, true); }),
      figure<&Part::pcie, &PcieFigures::link_utilisation_down>(PartKind::Gpu, "link_utilisation_down",
                                                               Parameter::LinkUtilisation,
                                                               [](Part const& p) { return utilisation(p, false); }),
      figure<&Part::pcie, &PcieFigures::latency>(PartKind::Switch, "latency", Parameter::PathLatency,
                                                 [](Part const& p) { return number(figures::switch_latency(&p)); }),
      figure<&Part::pcie, &PcieFigures::link_utilisation_up>(PartKind::Switch, "link_utilisation_up",
                                                             Parameter::LinkUtilisation,
                                                             [](Part const& p) { return utilisation(p, true); }),
      figure<&Part::pcie, &PcieFigures::link_utilisation_down>(PartKind::Switch, "link_utilisation_down",
                                                               Parameter::LinkUtilisation,
                                                               [](Part const& p) { return utilisation(p, false); }),
      figure<&Part::pcie_switch, &SwitchFigures::virtual_switch_fabric>(
          PartKind::Switch, "virtual_switch_fabric", Parameter::SwitchFabric,
          [](Part const& p) { return number(p.pcie_switch.virtual_switch_fabric); }),
      figure<&Part::cpu, &CpuFigures::root_complex_latency>(
          PartKind::Cpu, "root_complex_latency", Parameter::PathLatency,
          [](Part const& p) { return number(figures::root_complex_latency(&p)); }),
      figure<&Part::cpu, &CpuFigures::memory_latency>(
          PartKind::Cpu, "memory_latency", Parameter::PathLatency,
          [](Part const& p) { return number(figures::memory_latency(&p)); }),
      figure<&Part::cpu, &CpuFigures::host_duplex>(
          PartKind::Cpu, "host_duplex", Parameter::HostDuplex, [](Part const& p) { return host_duplex(p); }, kTwice),
      figure<&Part::cpu, &CpuFigures::core_copy_bandwidth>(
          PartKind::Cpu, "core_copy_bandwidth", Parameter::CoreCopy,
          [](Part const& p) { return number(figures::core_copy(&p)); }),
      figure<&Part::cpu, &CpuFigures::peer_read_bandwidth>(
          PartKind::Cpu, "peer_read_bandwidth", Parameter::RootComplexPeer,
          [](Part const& p) { return number(p.cpu.peer_read_bandwidth); }),
      figure<&Part::cpu, &CpuFigures::host_bridge_peer_bandwidth>(
          PartKind::Cpu, "host_bridge_peer_bandwidth", Parameter::RootComplexPeer,
          [](Part const& p) { return number(p.cpu.host_bridge_peer_bandwidth); }),
      figure<&Part::cpu, &CpuFigures::socket_peer_bandwidth>(
          PartKind::Cpu, "socket_peer_bandwidth", Parameter::SocketPeer,
          [](Part const& p) { return number(p.cpu.socket_peer_bandwidth); }),
      figure<&Part::cpu, &CpuFigures::socket_peer_bandwidth_both>(
          PartKind::Cpu, "socket_peer_bandwidth_both", Parameter::SocketPeer,
          [](Part const& p) { return number(p.cpu.socket_peer_bandwidth_both); }),
      figure<&Part::cpu, &CpuFigures::socket_peer_port_bandwidth>(
          PartKind::Cpu, "socket_peer_port_bandwidth", Parameter::SocketPeer,
          [](Part const& p) { return number(p.cpu.socket_peer_port_bandwidth); }),
      figure<&Part::cpu, &CpuFigures::socket_peer_port_bandwidth_both>(
          PartKind::Cpu, "socket_peer_port_bandwidth_both", Parameter::SocketPeer,
          [](Part const& p) { return number(p.cpu.socket_peer_port_bandwidth_both); }),
      figure<&Part::cpu, &CpuFigures::memory_efficiency>(
          PartKind::Cpu, "memory_efficiency", Parameter::HostMemory,
          [](Part const& p) { return p.cpu.memory_bandwidth ? number(figures::memory_efficiency(&p)) : std::nullopt; },
          kShared),
      figure<&Part::cpu, &CpuFigures::host_write_bandwidth>(
          PartKind::Cpu, "host_write_bandwidth", Parameter::HostWrites,
          [](Part const& p) { return number(p.cpu.host_write_bandwidth); }, kShared),
      figure<&Part::cpu, &CpuFigures::host_read_bandwidth>(
          PartKind::Cpu, "host_read_bandwidth", Parameter::HostReads,
          [](Part const& p) { return number(p.cpu.host_read_bandwidth); }, kShared),
      figure<&Part::cpu, &CpuFigures::host_traffic_bandwidth>(
          PartKind::Cpu, "host_traffic_bandwidth", Parameter::HostTraffic,
          [](Part const& p) { return number(p.cpu.host_traffic_bandwidth); }, kShared),
      figure<&Part::cpu, &CpuFigures::host_bridge_memory_bandwidth>(
          PartKind::Cpu, "host_bridge_memory_bandwidth", Parameter::BridgeMemory,
          [](Part const& p) { return number(p.cpu.host_bridge_memory_bandwidth); }, kShared),
      figure<&Part::nic, &NicFigures::wire_latency>(PartKind::Nic, "wire_latency", Parameter::NetworkLatency,
                                                    [](Part const& p) { return number(network::wire_latency(&p)); }),
      figure<&Part::nic, &NicFigures::payload_efficiency>(
          PartKind::Nic, "payload_efficiency", Parameter::NetworkRate,
          [](Part const& p) { return number(network::payload_efficiency(&p)); }, kAll),
      figure<&Part::nic, &NicFigures::read_bandwidth>(PartKind::Nic, "read_bandwidth", Parameter::NetworkRate,
                                                      [](Part const& p) { return number(p.nic.read_bandwidth); }),
      figure<&Part::nic, &NicFigures::queue_pair_bandwidth>(
          PartKind::Nic, "queue_pair_bandwidth", Parameter::NetworkRate,
          [](Part const& p) { return number(p.nic.queue_pair_bandwidth); }),
      figure<&Part::nic, &NicFigures::socket_latency>(
          PartKind::Nic, "socket_latency", Parameter::MessagePassing,
          [](Part const& p) { return of_sockets(p, figures::socket_latency(&p).value()); }),
      figure<&Part::nic, &NicFigures::socket_bandwidth>(
          PartKind::Nic, "socket_bandwidth", Parameter::MessagePassing,
          [](Part const& p) { return of_sockets(p, figures::socket_bandwidth(&p).value()); }),
      figure<&Part::hop, &SwitchHopFigures::latency>(PartKind::NetworkSwitch, "latency", Parameter::NetworkLatency,
                                                     [](Part const& p) { return number(p.hop.latency); }),
      figure<&Part::nvme, &NvmeFigures::read_bandwidth>(
          PartKind::Nvme, "read_bandwidth", Parameter::DriveRate,
          [](Part const& p) { return drive_rate(p, p.nvme.read_bandwidth, true); }),
      figure<&Part::nvme, &NvmeFigures::write_bandwidth>(
          PartKind::Nvme, "write_bandwidth", Parameter::DriveRate,
          [](Part const& p) { return drive_rate(p, p.nvme.write_bandwidth, false); }),
      figure<&Part::nvme, &NvmeFigures::read_latency>(
          PartKind::Nvme, "read_latency", Parameter::DriveLatency,
          [](Part const& p) { return number(figures::drive_read_latency(&p)); }),
      figure<&Part::nvme, &NvmeFigures::write_latency>(
          PartKind::Nvme, "write_latency", Parameter::DriveLatency,
          [](Part const& p) { return number(figures::drive_write_latency(&p)); }),
      figure<&Part::link, &LinkFigures::copy_efficiency>(
          PartKind::Link, "copy_efficiency", Parameter::NvlinkEfficiency,
          [](Part const& p) { return number(figures::copy_efficiency(p.link)); }),
      figure<&Part::link, &LinkFigures::copy_efficiency_to_cpu>(
          PartKind::Link, "copy_efficiency_to_cpu", Parameter::NvlinkEfficiency,
          [](Part const& p) { return number(p.link.copy_efficiency_to_cpu); }),
      figure<&Part::link, &LinkFigures::load_store_efficiency>(
          PartKind::Link, "load_store_efficiency", Parameter::NvlinkEfficiency,
          [](Part const& p) { return between_gpus(p, figures::load_store_efficiency(p.link)); }),
      figure<&Part::link, &LinkFigures::load_efficiency>(
          PartKind::Link, "load_efficiency", Parameter::NvlinkEfficiency,
          [](Part const& p) { return between_gpus(p, figures::load_efficiency(p.link)); }),
      figure<&Part::link, &LinkFigures::duplex>(
          PartKind::Link, "duplex", Parameter::NvlinkDuplex,
          [](Part const& p) { return between_gpus(p, std::min(kTwice, figures::duplex(p.link))); }, kTwice),
      figure<&Part::link, &LinkFigures::latency>(PartKind::Link, "latency", Parameter::NvlinkLatency,
                                                 [](Part const& p) { return number(figures::latency(p.link)); })};
}

std::string name_of(Machine const& machine, NvlinkBundle const& bundle) {
  return end_name(machine, bundle.a) + "-" + end_name(machine, bundle.b);
}
std::string name_of(Machine const& machine, SocketLink const& link) {
  return machine.at(link.a).name + "-" + machine.at(link.b).name;
}

// Calls visit(name, part) for everything that has a name and a part; `visit` may change the part.
template <class M, class Visit>
void for_each_place(M& machine, Visit visit) {
  for (auto& socket : machine.sockets)
    if (socket.part) visit(socket.name, *socket.part);
  for (auto& function : machine.functions)
    if (function.part) visit(function.name, *function.part);
  for (auto& bundle : machine.nvlinks) visit(name_of(machine, bundle), bundle.part);
  for (auto& link : machine.socket_links) visit(name_of(machine, link), link.part);
  if (machine.fabric)
    for (auto& one : machine.fabric->switches)
      if (one.part) visit(one.name, *one.part);
}

bool built_in(Machine const& machine, PartId id) {
  bool found = std::any_of(machine.nvswitches.begin(), machine.nvswitches.end(),
                           [&](NvSwitch const& domain) { return domain.link_part == id; });
  for_each_place(machine, [&](std::string const&, PartId const& part) { found = found || part == id; });
  return found;
}

// Whether the part is one device's own copy of another part of the machine.
bool is_copy(Machine const& machine, Part const& part) {
  return std::any_of(machine.parts.begin(), machine.parts.end(),
                     [&](Part const& other) { return part.name.starts_with(part_name_at(other.name, "")); });
}

}  // namespace

std::span<AdjustableFigure const> adjustable_figures() {
  static auto const made = all();
  return made;
}

std::string part_name_at(std::string_view part, std::string_view at) { return fmt::format("{}/{}", part, at); }

std::optional<PartId> part_at(Machine const& machine, std::string_view at) {
  std::optional<PartId> found;
  for_each_place(machine, [&](std::string const& name, PartId const& part) {
    if (name == at) found = part;
  });
  return found;
}

Part& own_part(Machine& machine, std::string_view at) {
  PartId* slot = nullptr;
  for_each_place(machine, [&](std::string const& name, PartId& part) {
    if (name == at) slot = &part;
  });
  auto const& known = machine.at(*slot);
  if (known.name.ends_with(part_name_at("", at))) return machine.parts[index(*slot)];
  auto own = known;
  own.name = part_name_at(known.name, at);
  own.inlined = true;
  *slot = PartId(machine.parts.size());
  return machine.parts.emplace_back(std::move(own));
}

std::vector<std::string> places_of_part(Machine const& machine, std::string_view part) {
  std::vector<std::string> names;
  for_each_place(machine, [&](std::string const& name, PartId const& id) {
    if (machine.at(id).name == part || machine.at(id).name == part_name_at(part, name)) names.push_back(name);
  });
  return names;
}

std::optional<double> CalibrationTarget::value(Machine const& machine) const {
  auto const id = at.empty() ? std::nullopt : part_at(machine, at);
  for (std::size_t i = 0; i < machine.parts.size(); ++i)
    if (id ? index(*id) == i : machine.parts[i].name == part) return figure->value(machine.parts[i]);
  return std::nullopt;
}

void CalibrationTarget::set(Machine& machine, double value) const {
  if (!at.empty()) {
    if (!part_at(machine, at)) return;
    auto& part_there = own_part(machine, at);
    figure->set(part_there, value);
    return part_there.forget_source(figure->key);
  }
  auto const copies = part_name_at(part, "");
  for (auto& known : machine.parts) {
    if (known.name != part && !known.name.starts_with(copies)) continue;
    figure->set(known, value);
    known.forget_source(figure->key);
    known.inlined = true;  // no longer what the catalogue says
  }
}

std::string CalibrationTarget::text() const { return fmt::format("{} {}", at.empty() ? part : at, figure->key); }

std::vector<CalibrationTarget> targets_of(Machine const& machine, bool shared) {
  std::vector<CalibrationTarget> targets;
  for (std::size_t i = 0; i < machine.parts.size(); ++i) {
    auto const& part = machine.parts[i];
    if (!built_in(machine, PartId(i)) || is_copy(machine, part)) continue;
    for (auto const& figure : adjustable_figures())
      if (figure.kind == part.kind && figure.shared == shared && figure.value(part).value_or(0) > 0)
        targets.push_back({&figure, part.name, {}});
  }
  return targets;
}

}  // namespace lanewise
