#include "core/interop/machines/roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/interop/words.hpp"
#include "core/io/word.hpp"
#include "core/io/yaml_writer.hpp"
#include "core/machine/part_fields.hpp"
#include "lanewise/machine/machine_file.hpp"

namespace lanewise {
namespace {

constexpr std::string_view kSchema = "roles/1";
constexpr std::array<std::string_view, 7> kKinds{"root_port", "switch", "gpu", "nic", "nvme", "device", "platform"};
constexpr std::string_view kAddressPattern = "^[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\\.[0-7]$";

MapSpec const& role_spec() {
  static MapSpec const spec{
      "role",
      {{.name = "bdf",
        .type = ValueType::Custom,
        .doc = "PCI address as the kernel writes it, 0000:3b:00.0; of a switch, that of its upstream port",
        .required = true,
        .pattern = std::string(kAddressPattern)},
       {.name = "name", .type = ValueType::Id, .doc = "the device's name in the machine file", .required = true},
       {.name = "kind",
        .type = ValueType::Word,
        .doc = "what it stands for; platform: a device of the emulator itself",
        .required = true,
        .words = {kKinds.begin(), kKinds.end()}},
       {.name = "part", .type = ValueType::Id, .doc = "the part it stands for; absent: unknown"},
       text_field("device_name", "of a NIC: its name in the machine file (mlx5_0)")}};
  return spec;
}

MapSpec const& not_expressed_spec() {
  static MapSpec const spec{
      "not expressed",
      {{.name = "kind", .type = ValueType::Id, .doc = "of difference: link, acs, nvlink, ...", .required = true},
       text_field("subject", "a device's name; absent: every one"),
       text_field("key", "what of it; absent: everything of the kind"),
       {.name = "reason", .type = ValueType::Text, .doc = "why the emulator does not show it", .required = true}}};
  return spec;
}

Role read_role(MapReader& reader) {
  Role role;
  if (auto const* address = reader.custom("bdf")) {
    role.bdf = address->text;
    if (address->kind != YamlKind::Scalar || !is_pci_address(role.bdf))
      reader.fail(*address,
                  fmt::format("'{}' is not a PCI address as the kernel writes it, \"0000:3b:00.0\"", role.bdf));
  }
  role.name = reader.text("name").value_or("");
  role.kind = parse_word<RoleKind>(reader.text("kind").value_or(""), kKinds, "a kind").value.value_or(RoleKind::Device);
  role.part = reader.text("part").value_or("");
  role.device_name = reader.text("device_name").value_or("");
  return role;
}

void read_parts(MapReader& file, SourceText const& source, Diagnostics& diagnostics, std::vector<Part>& parts) {
  auto const* node = file.custom("parts");
  if (node == nullptr) return;
  if (node->kind != YamlKind::Map) return file.fail(*node, "'parts': expected a mapping of names to parts");
  for (auto const& entry : node->entries) {
    parts.push_back(read_part(entry.key, entry.value, source, diagnostics));
    parts.back().inlined = true;
  }
}

}  // namespace

std::string_view to_string(RoleKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

RoleKind role_kind(PciKind kind) {
  switch (kind) {
    case PciKind::RootPort: return RoleKind::RootPort;
    case PciKind::Switch: return RoleKind::Switch;
    case PciKind::Gpu: return RoleKind::Gpu;
    case PciKind::Nic: return RoleKind::Nic;
    case PciKind::Nvme: return RoleKind::Nvme;
    case PciKind::Device: break;
  }
  return RoleKind::Device;
}

bool is_pci_address(std::string_view text) {
  auto const colon = text.find(':');
  if (colon == std::string_view::npos || colon < 4 || colon > 8 || text.size() != colon + 8) return false;
  auto const rest = text.substr(colon);  // ":3b:00.0"
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), is_lower_hex_digit) &&
         is_lower_hex_digit(rest[1]) && is_lower_hex_digit(rest[2]) && rest[3] == ':' &&
         (rest[4] == '0' || rest[4] == '1') && is_lower_hex_digit(rest[5]) && rest[6] == '.' && rest[7] >= '0' &&
         rest[7] <= '7';
}

MapSpec const& roles_spec() {
  static MapSpec const spec{"roles",
                            {{.name = "lanewise",
                              .type = ValueType::Word,
                              .doc = std::string(kSchema),
                              .required = true,
                              .words = {std::string(kSchema)}},
                             {.name = "roles",
                              .type = ValueType::List,
                              .doc = "a function each",
                              .required = true,
                              .map = &role_spec(),
                              .item = ValueType::Map},
                             {.name = "cpus",
                              .type = ValueType::List,
                              .doc = "the part of each socket, in the order of their NUMA nodes; unknown: nobody says",
                              .item = ValueType::Id},
                             {.name = "parts",
                              .type = ValueType::Dictionary,
                              .doc = "parts that are not in the catalogue, as in a machine file",
                              .item = ValueType::Map},
                             {.name = "not_expressed",
                              .type = ValueType::List,
                              .doc = "what the emulator does not show of the machine file",
                              .map = &not_expressed_spec(),
                              .item = ValueType::Map}}};
  return spec;
}

RolesFile read_roles(SourceText const& source) {
  auto const root = parse_yaml(source);
  expect_schema(root, kSchema, source);
  Diagnostics diagnostics;
  MapReader file(root, roles_spec(), source, diagnostics);
  RolesFile read;
  auto& roles = read.roles;
  std::map<std::string, std::string> name_at;     // by address
  std::map<std::string, std::string> address_of;  // by name
  for (auto& reader : file.maps("roles")) {
    auto role = read_role(reader);
    if (auto const [at, is_new] = name_at.emplace(role.bdf, role.name); !is_new && !role.bdf.empty())
      reader.fail_at_key("bdf", fmt::format("{} is already '{}'", role.bdf, at->second));
    if (auto const [at, is_new] = address_of.emplace(role.name, role.bdf); !is_new && !role.name.empty())
      reader.fail_at_key("name", fmt::format("'{}' is already {}", role.name, at->second));
    roles.push_back(std::move(role));
  }
  read.cpus = file.texts("cpus");
  read_parts(file, source, diagnostics, read.parts);
  for (auto& reader : file.maps("not_expressed"))
    read.not_expressed.push_back({reader.text("kind").value_or(""), reader.text("subject").value_or(""),
                                  reader.text("key").value_or(""), reader.text("reason").value_or("")});
  diagnostics.throw_if_any();
  return read;
}

std::string write_roles(RolesFile const& file) {
  auto items = nlohmann::ordered_json::array();
  for (auto const& role : file.roles) {
    nlohmann::ordered_json item{{"bdf", role.bdf}, {"name", role.name}, {"kind", to_string(role.kind)}};
    if (!role.part.empty()) item["part"] = role.part;
    if (!role.device_name.empty()) item["device_name"] = role.device_name;
    items.push_back(std::move(item));
  }
  nlohmann::ordered_json tree{{"lanewise", kSchema}, {"roles", std::move(items)}};
  if (!file.cpus.empty()) tree["cpus"] = file.cpus;
  for (auto const& part : file.parts) tree["parts"][part.name] = part_tree(part);
  for (auto const& what : file.not_expressed) {
    nlohmann::ordered_json item{{"kind", what.kind}};
    if (!what.subject.empty()) item["subject"] = what.subject;
    if (!what.key.empty()) item["key"] = what.key;
    item["reason"] = what.reason;
    tree["not_expressed"].push_back(std::move(item));
  }
  return yaml_text(tree);
}

Role const* find_role(std::vector<Role> const& roles, std::string_view bdf) {
  auto const found = std::find_if(roles.begin(), roles.end(), [&](Role const& role) { return role.bdf == bdf; });
  return found == roles.end() ? nullptr : &*found;
}

}  // namespace lanewise
