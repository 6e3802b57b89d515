#pragma once
// A roles file (`lanewise: roles/1`) says which PCI function of an emulated machine stands for which device of its
// machine file. Without it, discovery never takes a stand-in for a GPU.
//
//   lanewise: roles/1
//   roles:
//     - {bdf: "0000:11:00.0", name: gpu0, kind: gpu, part: a100-pcie-80g}
//     - {bdf: "0000:00:01.0", name: root_share, kind: platform}
//   cpus: [epyc-7742, epyc-7742]
//
// `cpus` has the parts of the sockets, and `parts` those that the machine file describes itself.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/yaml.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// What a function stands for. Platform: a device of the emulator itself, which is not in the machine file.
enum class RoleKind : std::uint8_t { RootPort, Switch, Gpu, Nic, Nvme, Device, Platform };
std::string_view to_string(RoleKind kind);  // root_port, switch, gpu, nic, nvme, device, platform
RoleKind role_kind(PciKind kind);

struct Role {
  std::string bdf;   // "0000:11:00.0", lower case; of a switch, that of its upstream port
  std::string name;  // as in the machine file
  RoleKind kind = RoleKind::Device;
  std::string part;         // empty: unknown
  std::string device_name;  // of a NIC: its name in the machine file (mlx5_0); empty: none given
  friend bool operator==(Role const&, Role const&) = default;
};

// What the emulator does not show of the machine file, so that a comparison with the file expects it to differ.
struct NotExpressed {
  std::string kind;     // of difference: link, acs, nvlink, ...
  std::string subject;  // a device's name; empty: every one
  std::string key;      // what of it: "cores"; empty: everything of the kind
  std::string reason;
  friend bool operator==(NotExpressed const&, NotExpressed const&) = default;
};

struct RolesFile {
  std::vector<Role> roles;
  std::vector<std::string> cpus;  // parts of the sockets, in the order of their NUMA nodes; "unknown"; empty: not said
  std::vector<Part> parts;        // of roles and sockets, that the catalogue does not have
  std::vector<NotExpressed> not_expressed;
  friend bool operator==(RolesFile const&, RolesFile const&) = default;
};

MapSpec const& roles_spec();
// Throws InputError with every error, also for an address or a name that is given twice.
RolesFile read_roles(SourceText const& source);
// Writes a roles file, which reads back equal.
std::string write_roles(RolesFile const& file);
// The role of the function at an address, or nullptr.
Role const* find_role(std::vector<Role> const& roles, std::string_view bdf);

// Whether a text is a PCI address as the kernel writes it: "0000:3b:00.0".
bool is_pci_address(std::string_view text);

}  // namespace lanewise
