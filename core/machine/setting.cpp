#include "lanewise/machine/setting.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "core/io/spelling.hpp"
#include "core/machine/fault_settings.hpp"
#include "core/machine/library_variables.hpp"
#include "core/machine/machine_fields.hpp"
#include "core/machine/setting_value.hpp"

namespace lanewise {
namespace {

PciId function_of(Machine const& machine, Setting const& setting, std::string_view name) {
  if (auto const id = machine.find_function(name)) return *id;
  std::vector<std::string> names;
  for (auto const& function : machine.functions) names.push_back(function.name);
  refuse(setting, fmt::format("no port or device is called '{}'{}", name, did_you_mean(name, names)));
}

// At a switch: its downstream ports. At a root port: itself. At a device: the port above it.
void set_acs_at(Machine& machine, PciId at, AcsControl control) {
  auto const kind = machine.at(at).kind;
  for (std::size_t i = 0; i < machine.functions.size(); ++i) {
    bool const below = machine.functions[i].parent == at && (kind == PciKind::Switch || kind == PciKind::RootPort);
    bool const itself = PciId(i) == at && kind != PciKind::Switch && kind != PciKind::RootPort;
    if (below || itself) machine.functions[i].acs = control;
  }
}

void set_acs_everywhere(Machine& machine, AcsControl control) {
  for (auto& host : machine.hosts) host.settings.acs = control;
  for (auto& function : machine.functions) function.acs.reset();
}

// A GPU that is soldered to NVLinks of one generation cannot be replaced by one of another.
void refuse_other_nvlink(Machine const& machine, Setting const& setting, PciId gpu, Part const& part) {
  auto const check = [&](PartId link) {
    auto const& figures = machine.at(link).link;
    if (figures.family != LinkFamily::NvLink || figures.generation == part.gpu.nvlink_generation) return;
    refuse(
        setting,
        fmt::format("'{}' has {}, but the links of {} here are NVLink {}; take a machine that is built for it, or "
                    "leave NVLink out: nvlink=off before this",
                    part.name,
                    part.gpu.nvlink_generation > 0 ? fmt::format("NVLink {}", part.gpu.nvlink_generation) : "no NVLink",
                    machine.at(gpu).name, figures.generation));
  };
  for (auto const& bundle : machine.nvlinks)
    if (bundle.a == NvlinkEnd(gpu) || bundle.b == NvlinkEnd(gpu)) check(bundle.part);
  for (auto const& domain : machine.nvswitches)
    for (auto const& port : domain.ports)
      if (port.gpu == gpu) check(domain.link_part);
}

// A GPU uses no more NVLinks to its switches than it has ports.
void keep_ports(Machine& machine, PciId gpu, Part const& part) {
  for (auto& domain : machine.nvswitches)
    for (auto& port : domain.ports)
      if (port.gpu == gpu && part.gpu.nvlink_ports > 0) port.count = std::min(port.count, part.gpu.nvlink_ports);
}

void set_part(Machine& machine, Setting const& setting, std::string_view name, Catalogue& catalogue) {
  auto const* part = catalogue.part(setting.value);
  if (part == nullptr)
    refuse(setting,
           fmt::format("no part is called '{}'{}", setting.value, did_you_mean(setting.value, catalogue.part_names())));
  auto const require = [&](std::string_view kind) {
    if (to_string(part->kind) != kind)
      refuse(setting, fmt::format("'{}' is a {}, but a {} is needed", part->name, to_string(part->kind), kind));
  };
  for (auto& socket : machine.sockets) {
    if (socket.name != name) continue;
    require("cpu");
    socket.part = add_part(machine, *part);
    return;
  }
  auto const id = function_of(machine, setting, name);
  auto& function = machine.functions[index(id)];
  require(to_string(function.kind));
  if (function.kind == PciKind::Gpu) refuse_other_nvlink(machine, setting, id, *part);
  function.part = add_part(machine, *part);
  if (function.kind == PciKind::Gpu) keep_ports(machine, id, *part);
  function.link.reset();  // the new part negotiates its own
  function.max_link.reset();
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    auto const end = text.find(',');
    for (auto& name : expand_range(text.substr(0, end))) names.push_back(std::move(name));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return names;
}

void set_virtualization(Machine& machine, Setting const& setting, std::string_view part) {
  for (auto& host : machine.hosts) {
    auto& v = host.settings.virtualization;
    if (part.empty()) {
      if (setting.value == "none")
        v = {};
      else if (setting.value == "passthrough")
        v.passthrough = true;
      else
        refuse(setting, "allowed: none, passthrough");
    } else if (part == "approval") {
      v.approval = flag_of(setting);
    } else if (part == "ats") {
      v.ats = flag_of(setting);
    } else if (part == "hypervisor") {
      v.hypervisor = setting.value;
    } else if (part == "clique") {
      v.cliques = {names_in(setting.value)};
      for (auto const& name : v.cliques.front()) function_of(machine, setting, name);
    } else {
      refuse(setting, "allowed: virtualization, virtualization.approval, .ats, .hypervisor, .clique");
    }
  }
}

void set_software(Machine& machine, Setting const& setting, std::string_view name) {
  std::string allowed;
  for (auto const& field : software_fields()) {
    allowed += (allowed.empty() ? "software." : ", .") + field.spec.name;
    if (field.spec.name != name) continue;
    for (auto& host : machine.hosts) host.software.*field.flag = flag_of(setting);
    return;
  }
  refuse(setting, "allowed: " + allowed);
}

void set_library_variable(Machine& machine, Setting const& setting, std::string_view name) {
  std::vector<std::string> known;
  for (auto const& variable : library_variables()) known.emplace_back(variable.name);
  if (!is_library_variable(name))
    refuse(setting, fmt::format("unknown variable '{}'{} allowed: {}", name, did_you_mean_first(name, known),
                                fmt::join(known, ", ")));
  machine.library_environment[std::string(name)] = setting.value;
}

void set_nvlink(Machine& machine, Setting const& setting) {
  if (setting.value != "off")
    refuse(setting, "only 'off' is allowed: it takes every NVLink, C2C and GPU xGMI link away");
  machine.nvlinks.clear();
  machine.nvswitches.clear();
}

// Every key that --set takes; NAME stands for a device, a port or a socket.
std::vector<std::string> all_keys() {
  std::vector<std::string> keys{"acs",
                                "iommu",
                                "iommu_page",
                                "nvlink",
                                "routing",
                                "flows_per_pair",
                                "virtualization",
                                "virtualization.approval",
                                "virtualization.ats",
                                "virtualization.hypervisor",
                                "virtualization.clique"};
  for (auto const& field : software_fields()) keys.push_back("software." + field.spec.name);
  for (auto const* key : {"acs@NAME", "link@NAME", "part@NAME", "mig@NAME", "off@NAME", "count@LINK", "rate@NIC",
                          "uplinks", "uplinks@LEAF", "library.env.VARIABLE", "routing@FABRIC", "flows_per_pair@FABRIC"})
    keys.emplace_back(key);
  return keys;
}

// What may stand before '@'.
std::vector<std::string> const& keys_with_a_name() {
  static std::vector<std::string> const keys{"acs",   "link", "part",    "mig",     "off",
                                             "count", "rate", "uplinks", "routing", "flows_per_pair"};
  return keys;
}

void apply_to_one(Machine& machine, Setting const& setting, std::string_view what, std::string_view name,
                  Catalogue& catalogue) {
  if (what == "part") return set_part(machine, setting, name, catalogue);
  if (what == "off") return set_off(machine, setting, name);
  if (what == "count") return set_link_count(machine, setting, name);
  if (what == "rate") return set_cable_rate(machine, setting, name);
  if (what == "uplinks") return set_uplinks(machine, setting, name);
  if (what == "routing") return set_routing(machine, setting, name);
  if (what == "flows_per_pair") return set_flows_per_pair(machine, setting, name);
  auto const at = function_of(machine, setting, name);
  if (what == "acs") return set_acs_at(machine, at, value_of(setting, parse_acs(setting.value)));
  if (what == "link") {
    machine.functions[index(at)].link = value_of(setting, parse_pcie_link(setting.value));
    return;
  }
  if (what == "mig") {
    if (machine.at(at).kind != PciKind::Gpu) refuse(setting, "mig belongs to a GPU");
    machine.functions[index(at)].mig = flag_of(setting);
    return;
  }
  throw std::logic_error(fmt::format("the setting '{}@' is known, but nothing applies it", what));
}

// The names that a pattern of * and ? stands for; neither stands for the '/' behind a node's name.
std::vector<std::string> names_matching(Machine const& machine, std::string_view what, std::string const& pattern) {
  bool const is_of_fabric = what == "routing" || what == "flows_per_pair";
  std::vector<std::string> names = is_of_fabric ? std::vector<std::string>() : fault_names(machine);
  if (is_of_fabric && machine.fabric)
    for (auto const& network : machine.fabric->networks) names.push_back(network.name);
  if (what == "part")
    for (auto const& socket : machine.sockets) names.push_back(socket.name);
  std::erase_if(names,
                [&](std::string const& name) { return fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME) != 0; });
  return names;
}

void apply_at(Machine& machine, Setting const& setting, std::string_view what, std::string const& name,
              Catalogue& catalogue) {
  auto const& known = keys_with_a_name();
  if (std::find(known.begin(), known.end(), what) == known.end()) {
    refuse(setting, fmt::format("'{}' is not a setting{} before '@' are allowed: {}; figures of a part change with the "
                                "part: part@{}=PART",
                                what, did_you_mean_first(what, known), fmt::join(known, ", "), name));
  }
  if (name.empty()) refuse(setting, "a name follows '@'");
  if (name.find_first_of("*?") == std::string::npos) return apply_to_one(machine, setting, what, name, catalogue);
  auto const names = names_matching(machine, what, name);
  if (names.empty()) refuse(setting, fmt::format("nothing here has a name like '{}'", name));
  for (auto const& one : names) apply_to_one(machine, setting, what, one, catalogue);
}

}  // namespace

bool is_library_variable(std::string_view name) { return find_library_variable(name) != nullptr; }

Setting parse_setting(std::string_view text) {
  auto const equals = text.find('=');
  if (equals == std::string_view::npos && text.starts_with("off@")) return {std::string(text), "true"};
  if (equals == std::string_view::npos || equals == 0)
    throw InputError(fmt::format("--set {}: write KEY=VALUE, such as acs=on", text));
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

void apply_setting(Machine& machine, Setting const& setting, Catalogue& catalogue) {
  auto const key = std::string_view(setting.key);
  if (auto const at = key.find('@'); at != std::string_view::npos)
    return apply_at(machine, setting, key.substr(0, at), std::string(key.substr(at + 1)), catalogue);
  if (key == "acs") return set_acs_everywhere(machine, value_of(setting, parse_acs(setting.value)));
  if (key == "iommu") {
    auto const mode = value_of(setting, parse_iommu(setting.value));
    for (auto& host : machine.hosts) host.settings.iommu = mode;
    return;
  }
  if (key == "iommu_page") {
    auto const page = value_of(setting, parse_bytes(setting.value));
    if (page == Bytes(0)) refuse(setting, "a page has more than 0 bytes");
    for (auto& host : machine.hosts) host.settings.iommu_page = page;
    return;
  }
  if (key == "nvlink") return set_nvlink(machine, setting);
  if (key == "uplinks") return set_uplinks(machine, setting, "");
  if (key == "routing") return set_routing(machine, setting, "");
  if (key == "flows_per_pair") return set_flows_per_pair(machine, setting, "");
  constexpr std::string_view kVirtualization = "virtualization";
  constexpr std::string_view kSoftware = "software.";
  if (key == kVirtualization) return set_virtualization(machine, setting, "");
  if (key.starts_with("virtualization."))
    return set_virtualization(machine, setting, key.substr(kVirtualization.size() + 1));
  constexpr std::string_view kLibrary = "library.env.";
  if (key.starts_with(kLibrary)) return set_library_variable(machine, setting, key.substr(kLibrary.size()));
  if (key.starts_with(kSoftware)) return set_software(machine, setting, key.substr(kSoftware.size()));
  auto const known = all_keys();
  refuse(setting,
         fmt::format("unknown key '{}'{} allowed: {}", key, did_you_mean_first(key, known), fmt::join(known, ", ")));
}

}  // namespace lanewise
