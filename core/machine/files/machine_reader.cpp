#include "core/machine/files/machine_reader.hpp"

#include "core/machine/files/budgets.hpp"
#include "core/machine/files/machine_spec.hpp"
#include "core/machine/part_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/spelling.hpp"
#include "core/machine/files/settings_reader.hpp"
#include "lanewise/machine/machine_file.hpp"

namespace lanewise {

Machine MachineReader::read() {
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
  parts_.read_inline(top);
  for (auto& socket : top.maps("sockets")) read_socket(socket);
  if (machine_.sockets.empty() && diagnostics_.empty()) top.fail_at_key("sockets", "a machine has at least one socket");
  for (auto& link : top.maps("socket_links")) read_socket_link(link);
  for (auto& nvlink : top.maps("nvlinks")) read_nvlink(nvlink);
  check_nvlink_ports(top);
  for (auto& entry : top.maps("overrides")) read_override(entry);
  check_cliques(top);
  check_port_owners(top);
  diagnostics_.throw_if_any();
  for (auto const& sentence : exceeded_lanes(machine_)) top.fail_at_key("sockets", sentence);
  diagnostics_.throw_if_any();
  return std::move(machine_);
}

std::optional<PartId> MachineReader::enter_part(MapReader const& reader, YamlNode const& node, std::string const& name,
                                                PartKind kind) {
  return parts_.enter(machine_, reader, node, name, kind);
}

std::optional<PartId> MachineReader::referenced_part(MapReader& reader, PartKind kind) {
  auto const name = reader.text("part");
  return name ? enter_part(reader, *reader.node("part"), *name, kind) : std::nullopt;
}

// A second function of an adapter names the first, which has the port.
void MachineReader::check_port_owners(MapReader const& top) {
  for (auto const& function : machine_.functions) {
    if (function.port_of.empty()) continue;
    auto const owner = machine_.find_function(function.port_of);
    bool const is_nic = owner && machine_.at(*owner).kind == PciKind::Nic;
    if (is_nic && machine_.at(*owner).port_of.empty() && machine_.at(*owner).name != function.name) continue;
    std::vector<std::string> owners;
    for (auto const nic : machine_.all(PciKind::Nic))
      if (machine_.at(nic).port_of.empty()) owners.push_back(machine_.at(nic).name);
    top.fail_at_key("sockets", fmt::format("'{}' shares the port of '{}', which is no NIC with a port of its own{}",
                                           function.name, function.port_of, did_you_mean(function.port_of, owners)));
  }
}

bool MachineReader::claim_name(MapReader const& reader, YamlNode const& node, std::string const& name) {
  auto const [it, fresh] = names_.emplace(name, node.line);
  if (fresh) return true;
  bool const above =
      std::find(enclosing_switches_.begin(), enclosing_switches_.end(), name) != enclosing_switches_.end();
  reader.fail(node, above ? fmt::format("cycle: '{}' is inside itself (it begins at line {})", name, it->second)
                          : fmt::format("the name '{}' is already used at line {}; every socket, port and device has "
                                        "its own name and one parent",
                                        name, it->second));
  return false;
}

std::optional<SocketId> MachineReader::socket_named(std::string_view name) const {
  for (std::size_t i = 0; i < machine_.sockets.size(); ++i)
    if (machine_.sockets[i].name == name) return SocketId(i);
  return std::nullopt;
}

std::optional<PciId> MachineReader::gpu_named(std::string_view name) const {
  auto const id = machine_.find_function(name);
  return id && machine_.at(*id).kind == PciKind::Gpu ? id : std::nullopt;
}

void MachineReader::report_dangling(MapReader const& reader, std::string_view key, std::string const& name,
                                    std::string_view kind) const {
  std::vector<std::string> known;
  for (auto const& [used, line] : names_) known.push_back(used);
  reader.fail(*reader.node(key),
              fmt::format("'{}': no {} is called '{}'{}", key, kind, name, did_you_mean(name, known)));
}

void MachineReader::check_cliques(MapReader const& top) {
  for (auto const& clique : machine_.hosts.front().settings.virtualization.cliques)
    for (auto const& name : clique)
      if (!gpu_named(name))
        top.fail_at_key("settings", fmt::format("the clique names '{}', which is not a GPU of this machine", name));
}

Machine read_machine(SourceText const& source, Catalogue& catalogue) { return MachineReader(source, catalogue).read(); }

}  // namespace lanewise
