#include "core/interop/machines/machine_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/machine/fastest_link.hpp"
#include "core/machine/files/budgets.hpp"
#include "core/machine/nvlink_ports.hpp"
#include "core/machine/socket_links.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 6> kStems{"rp", "sw", "gpu", "nic", "nvme", "dev"};

}  // namespace

std::string machine_name_from(std::string_view file) {
  auto stem = file.substr(file.find_last_of('/') + 1);
  stem = stem.substr(0, stem.find_last_of('.'));
  std::string name;
  for (char const c : stem) {
    bool const allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (allowed)
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name.empty() || name == "null" ? "imported" : name;
}

MachineBuilder::MachineBuilder(std::string name, Catalogue& catalogue, std::string source)
    : catalogue_(catalogue), source_(std::move(source)) {
  machine_.hosts.push_back({.name = {}, .machine = name, .settings = {}, .software = {}});
  machine_.name = std::move(name);
}

void MachineBuilder::note(std::string text) {
  auto& notes = machine_.notes;
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(std::move(text));
}

void MachineBuilder::note_stand_in(std::string_view part, std::string_view what, std::string_view option) {
  auto const* known = catalogue_.part(std::string(part));
  bool const generic = known != nullptr && known->spread.has_value();
  note(fmt::format("inferred: '{}'{} stands for {}; {} names the exact one", part,
                   generic ? ", a generic part with a wide range," : "", what, option));
}

// ------------------------------------------------------------------------------------------------------------- parts

PartId MachineBuilder::enter(Part part) {
  auto& parts = machine_.parts;
  auto const known = std::find_if(parts.begin(), parts.end(), [&](Part const& p) { return p.name == part.name; });
  if (known != parts.end()) return PartId(known - parts.begin());
  parts.push_back(std::move(part));
  return PartId(parts.size() - 1);
}

std::optional<PartId> MachineBuilder::part(std::string const& name, PartKind kind) {
  if (name.empty()) return std::nullopt;
  for (auto const& own : own_parts_)
    if (own.name == name && own.kind == kind) return enter(own);
  auto const* found = catalogue_.part(name);
  if (found != nullptr && found->kind == kind) return enter(*found);
  note(fmt::format("the catalogue has no {} part '{}'; left unknown", to_string(kind), name));
  return std::nullopt;
}

PartId MachineBuilder::part_or_stand_in(std::string const& name, PartKind kind, LinkFamily family) {
  auto const* found = catalogue_.part(name);
  if (found != nullptr && found->kind == kind) return enter(*found);
  Part stand_in;
  stand_in.name = name;
  stand_in.title = "stands in for a part that is not known";
  stand_in.kind = kind;
  stand_in.inlined = true;
  stand_in.link.family = family;
  note(fmt::format("the figures of '{}' are not known; give them under 'parts:'", name));
  return enter(std::move(stand_in));
}

std::string MachineBuilder::part_by_pci_id(std::string const& id, PartKind kind) {
  if (id.empty()) return {};
  auto const* found = catalogue_.part_by_pci_id(id);
  if (found != nullptr && found->kind == kind) return found->name;
  note(fmt::format("the catalogue has no {} of the PCI id {}; left unknown", to_string(kind), id));
  return {};
}

PartId MachineBuilder::inline_part(Part part) {
  part.inlined = true;
  return enter(std::move(part));
}

PartId MachineBuilder::nvlink_part(int generation, std::string const& chip) {
  if (generation < 1)
    return generic_link_part("nvlink-generic", LinkFamily::NvLink, "NVLinks whose generation is not known");
  auto const of_chip = fmt::format("nvlink-{}-{}", generation, chip);
  bool const special = !chip.empty() && catalogue_.part(of_chip) != nullptr;
  return part_or_stand_in(special ? of_chip : fmt::format("nvlink-{}", generation), PartKind::Link);
}

PartId MachineBuilder::gpu_xgmi_part(Part const* gpu) {
  if (gpu != nullptr && !gpu->spread) {
    auto const own = "xgmi-gpu-" + (gpu->name.starts_with("amd-") ? gpu->name.substr(4) : gpu->name);
    if (catalogue_.part(own) != nullptr) return part_or_stand_in(own, PartKind::Link, LinkFamily::GpuXgmi);
    // MI50 and MI60 are the same chip.
    if (gpu->gpu.chip == "gfx906") return part_or_stand_in("xgmi-gpu-mi50", PartKind::Link, LinkFamily::GpuXgmi);
  }
  return generic_link_part("xgmi-gpu-generic", LinkFamily::GpuXgmi, "xGMI between GPUs whose links are not known");
}

std::string MachineBuilder::generic_gpu_of(std::string_view vendor) {
  for (auto const& name : catalogue_.part_names())
    if (auto const* part = catalogue_.part(name);
        part->kind == PartKind::Gpu && part->spread && part->gpu.vendor == vendor)
      return name;
  return {};
}

// `name` ends with "-generic"; without it, "-unknown" stands for the links and has no figures.
PartId MachineBuilder::generic_link_part(std::string const& name, LinkFamily family, std::string_view what) {
  auto const* generic = catalogue_.part(name);
  if (generic == nullptr || generic->kind != PartKind::Link)
    return part_or_stand_in(name.substr(0, name.rfind('-')) + "-unknown", PartKind::Link, family);
  note(fmt::format(
      "inferred: '{}', a generic part with a wide range, for {}; --gpu names the GPUs, and with them their links", name,
      what));
  return enter(*generic);
}

// --------------------------------------------------------------------------------------------------- sockets and PCI

SocketId MachineBuilder::add_socket(std::string const& part_name, int numa_index, std::string cores) {
  auto const socket = SocketId(machine_.sockets.size());
  machine_.sockets.push_back({fmt::format("cpu{}", index(socket)), HostId{0}, part(part_name, PartKind::Cpu)});
  add_numa(socket, numa_index, std::move(cores));
  return socket;
}

NumaId MachineBuilder::add_numa(SocketId socket, int numa_index, std::string cores) {
  auto const index = free_numa_index(numa_index);
  if (index != numa_index)
    note(fmt::format("NUMA node {} stands twice; the second is taken for node {}", numa_index, index));
  machine_.numa_nodes.push_back({fmt::format("numa{}", index), socket, index, std::move(cores)});
  return NumaId(machine_.numa_nodes.size() - 1);
}

int MachineBuilder::free_numa_index(int wanted) const {
  auto const taken = [&](int index) {
    auto const& nodes = machine_.numa_nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](NumaNode const& node) { return node.os_index == index; });
  };
  if (!taken(wanted)) return wanted;
  int free = 0;
  while (taken(free)) ++free;
  return free;
}

HostBridgeId MachineBuilder::host_bridge(SocketId socket, std::string name, std::optional<NumaId> numa) {
  auto& bridges = machine_.host_bridges;
  auto const known = std::find_if(bridges.begin(), bridges.end(), [&](HostBridge const& b) { return b.name == name; });
  if (known != bridges.end()) return HostBridgeId(known - bridges.begin());
  auto const& nodes = machine_.numa_nodes;
  auto const first =
      std::find_if(nodes.begin(), nodes.end(), [&](NumaNode const& node) { return node.socket == socket; });
  bridges.push_back({std::move(name), socket, numa.value_or(NumaId(first - nodes.begin()))});
  return HostBridgeId(bridges.size() - 1);
}

std::string MachineBuilder::next_name(PciKind kind) {
  auto const i = static_cast<std::size_t>(kind);
  return fmt::format("{}{}", kStems.at(i), named_.at(i)++);
}

PciId MachineBuilder::add_root_port(std::string name, HostBridgeId bridge) {
  PciFunction port;
  port.name = std::move(name);
  port.kind = PciKind::RootPort;
  port.host_bridge = bridge;
  machine_.functions.push_back(std::move(port));
  return PciId(machine_.functions.size() - 1);
}

// The fastest link that the parts of the function and of the port above it allow; nullopt where neither says.
std::optional<PcieLink> MachineBuilder::max_link(PciFunction const& function) const {
  constexpr PcieLink kAny{6, 32};
  auto max = kAny;
  auto const limit = [&](std::optional<PartId> part) {
    auto const fastest = part ? fastest_link(machine_.at(*part)) : std::nullopt;
    if (fastest) max = negotiated(max, *fastest);
  };
  limit(function.part);
  if (function.parent) {
    auto const& above = machine_.at(*function.parent);
    auto const* cpu = machine_.part_of(machine_.at(above.host_bridge).socket);
    if (above.kind == PciKind::Switch)
      limit(above.part);
    else if (cpu != nullptr && cpu->cpu.root_port_generation)
      max = negotiated(max, {*cpu->cpu.root_port_generation, kAny.width});
  }
  return max == kAny ? std::nullopt : std::optional(max);
}

PciId MachineBuilder::add(PciFunction function) {
  constexpr int kMaxDepth = 24;  // a machine file nests two levels for each, of 64
  int depth = 0;
  for (auto above = function.parent; above; above = machine_.at(*above).parent) ++depth;
  if (depth > kMaxDepth)
    throw InputError(fmt::format("{}: more than {} switches above one another", source_, kMaxDepth));
  auto const max = max_link(function);
  if (function.link && max && negotiated(*function.link, *max) != *function.link) {
    note(fmt::format("{}: {} says {}, but its part or the port above it can do {} at most; cut to that", function.name,
                     source_, to_string(*function.link), to_string(*max)));
    function.link = negotiated(*function.link, *max);
  }
  if (function.max_link && max) function.max_link = negotiated(*function.max_link, *max);
  if (function.max_link == function.link) function.max_link.reset();
  machine_.functions.push_back(std::move(function));
  return PciId(machine_.functions.size() - 1);
}

void MachineBuilder::set_rate(PciFunction& nic, BytesPerSecond rate) const {
  auto const known = nic.part ? machine_.at(*nic.part).nic.rate : std::nullopt;
  if (!known || rate < *known) nic.rate = rate;
}

// ------------------------------------------------------------------------------------------------------- other links

void MachineBuilder::add_usual_socket_links() {
  auto const sockets = machine_.sockets.size();
  if (sockets < 2) return;
  auto const* cpu = machine_.part_of(SocketId(0));
  auto const usual = cpu == nullptr ? std::nullopt : usual_socket_link(*cpu);
  auto const cpu_name = cpu == nullptr ? std::string() : cpu->name;  // copied: enter() may move the parts
  auto const* found = usual ? catalogue_.part(usual->part) : nullptr;
  if (found == nullptr || found->kind != PartKind::Link) return add_generic_socket_links();
  auto const link = enter(*found);
  link_all_sockets(link, usual->count);
  note(fmt::format(
      "inferred: {} x {} between each two sockets, usual for '{}', for {} does not say; --cpu names another CPU",
      usual->count, usual->part, cpu_name, source_));
}

void MachineBuilder::check_nvlink_ports() const { refuse_exceeded_ports(machine_, source_); }

void MachineBuilder::add_socket_link(SocketId a, SocketId b, std::string const& part, int count) {
  auto const id = part_or_stand_in(part, PartKind::Link, LinkFamily::Socket);
  machine_.socket_links.push_back({a, b, id, count});
}

void MachineBuilder::link_all_sockets(PartId link, int count) {
  auto const sockets = machine_.sockets.size();
  for (std::size_t a = 0; a < sockets; ++a)
    for (std::size_t b = a + 1; b < sockets; ++b)
      machine_.socket_links.push_back({SocketId(a), SocketId(b), link, count});
}

void MachineBuilder::add_generic_socket_links() {
  auto const* generic = catalogue_.part("socket-link-generic");
  if (generic == nullptr || generic->kind != PartKind::Link)
    return note(fmt::format(
        "how the sockets are linked {} does not say, and it is not known for this CPU; add 'socket_links'", source_));
  link_all_sockets(enter(*generic), 1);
  note(fmt::format(
      "inferred: 'socket-link-generic', a generic part with a wide range, between each two sockets, for how "
      "they are linked {} does not say, and it is not known for this CPU; --cpu names the CPU, and "
      "'socket_links' the links",
      source_));
}

Machine MachineBuilder::take() {
  for (auto const& excess : exceeded_lanes(machine_))
    note(fmt::format("contradiction: {}; it is another product, or {} does not show a switch", excess, source_));
  return std::move(machine_);
}

void MachineBuilder::add_nvlink(NvlinkEnd a, NvlinkEnd b, PartId part, int count) {
  machine_.nvlinks.push_back({a, b, part, count});
}

void MachineBuilder::add_nvswitch(int link_generation, std::vector<NvSwitch::Port> ports) {
  NvSwitch domain;
  domain.name = fmt::format("nvswitch{}", machine_.nvswitches.size());
  domain.link_part = nvlink_part(link_generation);
  // The first NVSwitch came with NVLink 2, so NVLink 3 goes with NVSwitch 2.
  domain.part = part_or_stand_in(
      link_generation > 1 ? fmt::format("nvswitch-{}", link_generation - 1) : "nvswitch-unknown", PartKind::NvSwitch);
  domain.ports = std::move(ports);
  machine_.nvswitches.push_back(std::move(domain));
}

}  // namespace lanewise
