// Reads a machine file into a Machine, reporting everything that is wrong with it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/io/spelling.hpp"
#include "core/machine/machine_fields.hpp"
#include "core/machine/machine_file.hpp"
#include "core/machine/settings_reader.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 5> kHolders{"switch", "gpu", "nic", "nvme", "device"};
constexpr std::array<PciKind, 5> kHolderKinds{PciKind::Switch, PciKind::Gpu, PciKind::Nic, PciKind::Nvme,
                                              PciKind::Device};

std::optional<PartKind> part_kind_of(PciKind kind) {
  switch (kind) {
    case PciKind::Switch: return PartKind::Switch;
    case PciKind::Gpu: return PartKind::Gpu;
    case PciKind::Nic: return PartKind::Nic;
    case PciKind::Nvme: return PartKind::Nvme;
    case PciKind::Device: return PartKind::Device;
    case PciKind::RootPort: return std::nullopt;
  }
  return std::nullopt;
}

class MachineReader {
 public:
  MachineReader(SourceText const& source, Catalogue& catalogue) : source_(source), catalogue_(catalogue) {}

  Machine read() {
    auto const root = parse_yaml(source_);
    expect_schema(root, "machine/1", source_);
    MapReader top(root, machine_spec(), source_, diagnostics_);
    machine_.name = top.text("machine").value_or("");
    machine_.title = top.text("title").value_or("");
    machine_.notes = top.texts("notes");
    Host host{.name = {}, .machine = machine_.name, .settings = {}, .software = {}};
    if (auto settings = top.map("settings")) read_settings(*settings, host.settings);
    if (auto software = top.map("software")) read_software(*software, host.software);
    machine_.hosts.push_back(std::move(host));
    read_inline_parts(top);
    for (auto& socket : top.maps("sockets")) read_socket(socket);
    if (machine_.sockets.empty() && diagnostics_.empty())
      top.fail_at_key("sockets", "a machine has at least one socket");
    for (auto& link : top.maps("socket_links")) read_socket_link(link);
    for (auto& nvlink : top.maps("nvlinks")) read_nvlink(nvlink);
    check_nvlink_ports(top);
    for (auto& entry : top.maps("overrides")) read_override(entry);
    check_cliques(top);
    diagnostics_.throw_if_any();
    return std::move(machine_);
  }

 private:
  // ------------------------------------------------------------------------------------------------------- parts
  void read_inline_parts(MapReader& top) {
    auto const* node = top.custom("parts");
    if (node == nullptr) return;
    if (node->kind != YamlKind::Map) return top.fail(*node, "'parts': expected a mapping of names to parts");
    for (auto const& entry : node->entries) {
      auto part = read_part(entry.key, entry.value, source_, diagnostics_);
      part.inlined = true;
      inline_parts_.emplace(entry.key, std::move(part));
    }
  }

  // The part of this name and kind, entered into the machine; nullopt when it is `unknown` or wrong (reported).
  std::optional<PartId> part(MapReader const& reader, YamlNode const& node, std::string const& name, PartKind kind) {
    if (name == "unknown") return std::nullopt;
    Part const* found = nullptr;
    if (auto const it = inline_parts_.find(name); it != inline_parts_.end())
      found = &it->second;
    else
      found = catalogue_.part(name);
    if (found == nullptr) {
      auto names = catalogue_.part_names();
      for (auto const& [inline_name, unused] : inline_parts_) names.push_back(inline_name);
      reader.fail(
          node,
          fmt::format("no part is called '{}'{} parts are files in parts/, or described under 'parts:' in this file",
                      name, did_you_mean_first(name, names)));
      return std::nullopt;
    }
    if (found->kind != kind) {
      reader.fail(node, fmt::format("the part '{}' is a {}, but a {} is needed here", name, to_string(found->kind),
                                    to_string(kind)));
      return std::nullopt;
    }
    for (std::size_t i = 0; i < machine_.parts.size(); ++i)
      if (machine_.parts[i].name == name) return PartId(i);
    machine_.parts.push_back(*found);
    return PartId(machine_.parts.size() - 1);
  }
  std::optional<PartId> part_of(MapReader& reader, PartKind kind) {
    auto const name = reader.text("part");
    return name ? part(reader, *reader.node("part"), *name, kind) : std::nullopt;
  }

  // --------------------------------------------------------------------------------------------------------- names
  // Claims a name; reports one that is already taken.
  bool claim(MapReader const& reader, YamlNode const& node, std::string const& name) {
    auto const [it, fresh] = names_.emplace(name, node.line);
    if (fresh) return true;
    bool const above = std::find(open_.begin(), open_.end(), name) != open_.end();
    reader.fail(node, above ? fmt::format("cycle: '{}' hangs from itself (it is opened at line {})", name, it->second)
                            : fmt::format("the name '{}' is already used at line {}; every socket, port and device has "
                                          "its own name and one parent",
                                          name, it->second));
    return false;
  }

  // ------------------------------------------------------------------------------------------------------- sockets
  void read_socket(MapReader& reader) {
    auto const name = reader.text("socket");
    if (!name || !claim(reader, *reader.node("socket"), *name)) return;
    auto const socket = SocketId(machine_.sockets.size());
    machine_.sockets.push_back({*name, HostId{0}, part_of(reader, PartKind::Cpu)});
    auto const first_numa = machine_.numa_nodes.size();
    for (auto& numa : reader.maps("numa")) {
      NumaNode node;
      node.socket = socket;
      node.os_index = -1;
      for (auto const& field : numa_fields()) field.read(node, numa);
      if (node.os_index >= 0) add_numa(numa, std::move(node));
    }
    if (machine_.numa_nodes.size() == first_numa)
      add_numa(reader, {.name = {}, .socket = socket, .os_index = static_cast<int>(index(socket)), .cores = {}});
    for (auto& port : reader.maps("pcie")) read_top_port(port, socket, NumaId(first_numa));
  }

  void add_numa(MapReader const& reader, NumaNode node) {
    node.name = fmt::format("numa{}", node.os_index);
    if (claim(reader, reader.self(), node.name)) machine_.numa_nodes.push_back(std::move(node));
  }

  void read_top_port(MapReader& reader, SocketId socket, NumaId first_numa) {
    NumaId numa = first_numa;
    if (auto const wanted = reader.count("numa")) {
      auto const found =
          std::find_if(machine_.numa_nodes.begin(), machine_.numa_nodes.end(),
                       [&](NumaNode const& node) { return node.socket == socket && node.os_index == *wanted; });
      if (found != machine_.numa_nodes.end())
        numa = NumaId(found - machine_.numa_nodes.begin());
      else
        reader.fail(*reader.node("numa"),
                    fmt::format("socket '{}' has no NUMA node {}", machine_.at(socket).name, *wanted));
    }
    auto const port_name = reader.text("root_port");
    auto const bridge = host_bridge(reader, socket, numa, port_name.value_or(""));
    std::optional<PciId> parent;
    if (port_name) {
      if (!claim(reader, *reader.node("root_port"), *port_name)) return;
      parent = PciId(machine_.functions.size());
      PciFunction port;
      port.name = *port_name;
      port.kind = PciKind::RootPort;
      port.host_bridge = bridge;
      machine_.functions.push_back(std::move(port));
      if (holder_of(reader) == kHolders.size()) return;  // an empty slot
    }
    read_port(reader, bridge, parent);
  }

  // Root ports without a host bridge of their own name share the socket's, or have one each: the CPU part says.
  HostBridgeId host_bridge(MapReader& reader, SocketId socket, NumaId numa, std::string const& port_name) {
    auto const* cpu = machine_.part_of(socket);
    bool const shared = port_name.empty() || cpu == nullptr || cpu->cpu.host_bridges == HostBridges::PerSocket;
    auto const name =
        reader.text("host_bridge")
            .value_or(fmt::format("{}.{}", machine_.at(socket).name, shared ? std::string("hb") : "hb-" + port_name));
    auto& bridges = machine_.host_bridges;
    for (std::size_t i = 0; i < bridges.size(); ++i) {
      if (bridges[i].name != name) continue;
      if (bridges[i].socket == socket && bridges[i].numa == numa) return HostBridgeId(i);
      if (reader.has("host_bridge"))
        reader.fail(*reader.node("host_bridge"),
                    fmt::format("the host bridge '{}' belongs to another socket or NUMA node", name));
    }
    bridges.push_back({name, socket, numa});
    return HostBridgeId(bridges.size() - 1);
  }

  // ---------------------------------------------------------------------------------------------------------- ports
  static std::size_t holder_of(MapReader const& reader) {
    for (std::size_t i = 0; i < kHolders.size(); ++i)
      if (reader.has(kHolders[i])) return i;
    return kHolders.size();
  }

  void read_port(MapReader& reader, HostBridgeId bridge, std::optional<PciId> parent) {
    auto const holder = holder_of(reader);
    auto const holders = std::count_if(kHolders.begin(), kHolders.end(), [&](auto key) { return reader.has(key); });
    if (holders != 1) return reader.fail(reader.self(), "a port holds exactly one of switch, gpu, nic, nvme, device");
    auto const name = reader.text(kHolders[holder]);
    if (!name || !claim(reader, *reader.node(kHolders[holder]), *name)) return;
    if (kHolderKinds[holder] == PciKind::Switch && !parent)
      return reader.fail_at_key("switch",
                                fmt::format("the switch '{}' needs a port above it; add 'root_port: NAME'", *name));
    PciFunction function;
    function.name = *name;
    function.kind = kHolderKinds[holder];
    function.parent = parent;
    function.host_bridge = bridge;
    function.part = part_of(reader, *part_kind_of(function.kind));
    read_details(reader, function);
    auto const part_name = reader.text("part");
    if (!part_name)
      reader.fail(reader.self(), fmt::format("'{}' has no part; name one, or write 'part: unknown'", *name));
    check_link(reader, function);
    auto const id = PciId(machine_.functions.size());
    bool const is_switch = function.kind == PciKind::Switch;
    machine_.functions.push_back(std::move(function));
    if (!is_switch && reader.has("ports"))
      reader.fail_at_key("ports",
                         fmt::format("only a switch has ports; '{}' is a {}", *name, to_string(machine_.at(id).kind)));
    if (!is_switch) return;
    open_.push_back(*name);
    for (auto& port : reader.maps("ports")) {
      if (port.has("root_port")) port.fail_at_key("root_port", "a root port hangs from a socket, not from a switch");
      read_port(port, bridge, id);
    }
    open_.pop_back();
  }

  static void read_details(MapReader& reader, PciFunction& function) {
    for (auto const& field : function_fields()) {
      field.read(function, reader);
      if (field.only && reader.has(field.spec.name) && function.kind != *field.only)
        reader.fail_at_key(field.spec.name,
                           fmt::format("'{}' belongs to a {}, but '{}' is a {}", field.spec.name,
                                       to_string(*field.only), function.name, to_string(function.kind)));
    }
  }

  // Neither the device nor the port above it can run wider or faster than its datasheet says.
  void check_link(MapReader const& reader, PciFunction const& function) {
    for (auto const* key : {"link", "max"}) {
      auto const link = std::string_view(key) == "link" ? function.link : function.max_link;
      if (!link) continue;
      auto const too_much = [&](std::string const& what, PcieLink most) {
        if (link->generation > most.generation || link->width > most.width)
          reader.fail(*reader.node(key), fmt::format("'{}': {} is more than {} can do ({})", key, to_string(*link),
                                                     what, to_string(most)));
      };
      if (function.part && machine_.at(*function.part).pcie.link)
        too_much(fmt::format("the part '{}'", machine_.at(*function.part).name),
                 *machine_.at(*function.part).pcie.link);
      if (!function.parent) continue;
      auto const& above = machine_.at(*function.parent);
      if (above.kind == PciKind::Switch && above.part && machine_.at(*above.part).pcie.link)
        too_much(fmt::format("a port of the switch '{}'", above.name), *machine_.at(*above.part).pcie.link);
      auto const* cpu = machine_.part_of(machine_.at(above.host_bridge).socket);
      if (above.kind == PciKind::RootPort && cpu != nullptr && cpu->cpu.root_port_generation)
        too_much(fmt::format("a root port of '{}'", cpu->name), {*cpu->cpu.root_port_generation, 32});
    }
  }

  // -------------------------------------------------------------------------------------------------- other links
  std::optional<SocketId> socket_named(std::string_view name) const {
    for (std::size_t i = 0; i < machine_.sockets.size(); ++i)
      if (machine_.sockets[i].name == name) return SocketId(i);
    return std::nullopt;
  }
  std::optional<PciId> gpu_named(std::string_view name) const {
    auto const id = machine_.find_function(name);
    return id && machine_.at(*id).kind == PciKind::Gpu ? id : std::nullopt;
  }
  // Reports a name that stands for nothing of the kind.
  void dangling(MapReader const& reader, std::string_view key, std::string const& name, std::string_view kind) const {
    std::vector<std::string> known;
    for (auto const& [used, line] : names_) known.push_back(used);
    reader.fail(*reader.node(key),
                fmt::format("'{}': no {} is called '{}'{}", key, kind, name, did_you_mean(name, known)));
  }
  std::optional<std::array<std::string, 2>> two_ends(MapReader& reader) {
    auto ends = reader.texts("between");
    if (ends.size() == 2 && ends[0] != ends[1]) return std::array<std::string, 2>{ends[0], ends[1]};
    reader.fail_at_key("between", "'between' names two different ends, such as [gpu0, gpu1]");
    return std::nullopt;
  }

  void read_socket_link(MapReader& reader) {
    auto const ends = two_ends(reader);
    auto const part_id = part_of(reader, PartKind::Link);
    if (!ends) return;
    auto const a = socket_named((*ends)[0]);
    auto const b = socket_named((*ends)[1]);
    auto const count = reader.count("count");
    if (count && *count == 0) reader.fail(*reader.node("count"), "'count' must be at least 1");
    if (!a) dangling(reader, "between", (*ends)[0], "socket");
    if (!b) dangling(reader, "between", (*ends)[1], "socket");
    if (a && b && part_id) machine_.socket_links.push_back({*a, *b, *part_id, count.value_or(1)});
  }

  std::optional<PartId> nvlink_part(MapReader& reader) {
    if (reader.has("part")) return part_of(reader, PartKind::Link);
    auto const generation = reader.count("generation");
    if (!generation) {
      reader.fail(reader.self(), "an NVLink needs 'generation: 1..5' or 'part: NAME'");
      return std::nullopt;
    }
    if (*generation < 1 || *generation > 5) {
      reader.fail(*reader.node("generation"),
                  fmt::format("NVLink generation {} is not known; 1 to 5 are", *generation));
      return std::nullopt;
    }
    return part(reader, *reader.node("generation"), fmt::format("nvlink-{}", *generation), PartKind::Link);
  }

  void read_nvlink(MapReader& reader) {
    auto const link = nvlink_part(reader);
    auto const count = reader.count("count");
    if (count && *count == 0) reader.fail(*reader.node("count"), "'count' must be at least 1");
    if (reader.has("switch") == reader.has("between"))
      return reader.fail(reader.self(), "an NVLink has either 'between: [two ends]' or 'switch: NAME' with 'gpus'");
    if (reader.has("switch")) return read_nvswitch(reader, link, count);
    auto const ends = two_ends(reader);
    if (!ends) return;
    std::array<std::optional<NvlinkEnd>, 2> found;
    for (std::size_t i = 0; i < 2; ++i) {
      if (auto const gpu = gpu_named((*ends)[i]))
        found[i] = *gpu;
      else if (auto const socket = socket_named((*ends)[i]))
        found[i] = *socket;
      else
        dangling(reader, "between", (*ends)[i], "GPU or socket");
    }
    if (found[0] && found[1] && link && count) machine_.nvlinks.push_back({*found[0], *found[1], *link, *count});
  }

  // Entries with the same switch name are one crossbar whose GPUs have different numbers of links.
  NvSwitch* nvswitch_named(std::string_view name) {
    for (auto& domain : machine_.nvswitches)
      if (domain.name == name) return &domain;
    return nullptr;
  }

  void read_nvswitch(MapReader& reader, std::optional<PartId> link, std::optional<int> count) {
    auto const name = reader.text("switch");
    if (!name || (nvswitch_named(*name) == nullptr && !claim(reader, *reader.node("switch"), *name))) return;
    auto const part_name = reader.text("switch_part");
    if (!part_name) reader.fail_at_key("switch", fmt::format("the NVSwitch '{}' needs 'switch_part: NAME'", *name));
    auto const switch_part =
        part_name ? part(reader, *reader.node("switch_part"), *part_name, PartKind::NvSwitch) : std::nullopt;
    std::vector<NvSwitch::Port> ports;
    for (auto const* item : reader.items("gpus")) {
      for (auto const& gpu_name : names_in(reader, *item)) {
        if (auto const gpu = gpu_named(gpu_name))
          ports.push_back({*gpu, count.value_or(0)});
        else
          dangling(reader, "gpus", gpu_name, "GPU");
      }
    }
    if (ports.empty())
      reader.fail(reader.self(), fmt::format("the NVSwitch '{}' has no GPUs; add 'gpus: [gpu0..gpu7]'", *name));
    if (!link || !switch_part) return;
    auto* domain = nvswitch_named(*name);
    if (domain == nullptr)
      domain = &machine_.nvswitches.emplace_back(NvSwitch{*name, HostId{0}, *switch_part, *link, {}});
    if (domain->part != *switch_part || domain->link_part != *link)
      return reader.fail_at_key("switch", fmt::format("the NVSwitch '{}' is described above with other parts", *name));
    domain->ports.insert(domain->ports.end(), ports.begin(), ports.end());
  }

  static std::vector<std::string> names_in(MapReader const& reader, YamlNode const& item) {
    try {
      return expand_range(item.text);
    } catch (InputError const& error) {
      reader.fail(item, error.what());
      return {};
    }
  }

  void check_nvlink_ports(MapReader const& top) {
    std::map<PciId, int> used;
    for (auto const& bundle : machine_.nvlinks) {
      if (machine_.at(bundle.part).link.family == LinkFamily::C2c) continue;  // has a port of its own
      for (auto const& end : {bundle.a, bundle.b})
        if (auto const* gpu = std::get_if<PciId>(&end)) used[*gpu] += bundle.count;
    }
    for (auto const& domain : machine_.nvswitches)
      for (auto const& port : domain.ports) used[port.gpu] += port.count;
    for (auto const& [gpu, links] : used) {
      auto const* part = machine_.part_of(gpu);
      if (part != nullptr && part->gpu.vendor == "nvidia" && links > part->gpu.nvlink_ports)
        top.fail_at_key("nvlinks", fmt::format("'{}' has {} NVLinks here, but its part '{}' has {} ports",
                                               machine_.at(gpu).name, links, part->name, part->gpu.nvlink_ports));
    }
  }

  void read_override(MapReader& reader) {
    Override entry;
    bool good = true;
    for (auto const* key : {"from", "to"}) {
      auto const name = reader.text(key);
      auto const place = name ? machine_.find_place(*name) : std::nullopt;
      if (place)
        (std::string_view(key) == "from" ? entry.from : entry.to) = *place;
      else if (name)
        dangling(reader, key, *name, "GPU, NIC, drive, socket or NUMA node");
      good = good && place;
    }
    for (auto const& field : override_fields()) field.read(entry, reader);
    if (!reader.has("bandwidth") && !reader.has("latency"))
      reader.fail(reader.self(), "an override gives 'bandwidth', 'latency' or both");
    if (good) machine_.overrides.push_back(std::move(entry));
  }

  void check_cliques(MapReader const& top) {
    for (auto const& clique : machine_.hosts.front().settings.virtualization.cliques)
      for (auto const& name : clique)
        if (!gpu_named(name))
          top.fail_at_key("settings", fmt::format("the clique names '{}', which is not a GPU of this machine", name));
  }

  SourceText const& source_;
  Catalogue& catalogue_;
  Diagnostics diagnostics_;
  Machine machine_;
  std::map<std::string, Part> inline_parts_;
  std::map<std::string, int> names_;  // and the line that claimed it
  std::vector<std::string> open_;     // switches around the port being read
};

}  // namespace

Machine read_machine(SourceText const& source, Catalogue& catalogue) { return MachineReader(source, catalogue).read(); }

}  // namespace lanewise
