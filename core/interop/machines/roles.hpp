#pragma once
// A roles file (`lanewise: roles/1`) says which PCI function of an emulated machine stands for which device of its
// machine file. Without it, discovery never takes a stand-in for a GPU.
//
//   lanewise: roles/1
//   roles:
//     - {bdf: "0000:11:00.0", name: gpu0, kind: gpu, part: a100-pcie-80g}
//     - {bdf: "0000:00:01.0", name: root_share, kind: platform}
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/file.hpp"
#include "core/io/yaml.hpp"
#include "core/machine/machine.hpp"

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

MapSpec const& roles_spec();
// Throws InputError with every error, also for an address or a name that is given twice.
std::vector<Role> read_roles(SourceText const& source);
// Writes a roles file, which reads back as the same roles.
std::string write_roles(std::vector<Role> const& roles);
// The role of the function at an address, or nullptr.
Role const* find_role(std::vector<Role> const& roles, std::string_view bdf);

// Whether a text is a PCI address as the kernel writes it: "0000:3b:00.0".
bool is_pci_address(std::string_view text);

}  // namespace lanewise
