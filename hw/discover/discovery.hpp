#pragma once
// What `lanewise discover` finds: the machine, and where the sources disagree with each other or with lanewise's rules.
//
//   auto const found = discover({.name = "node7"}, catalogue);
//   write_file("node7.yaml", write_machine(found.machine));
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/interop/host/facts.hpp"
#include "core/interop/host/host_machine.hpp"
#include "core/interop/machines/roles.hpp"
#include "core/interop/machines/topo_matrix.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::hw {

struct DiscoverOptions {
  std::string name;                      // of the machine; empty: the host name
  std::filesystem::path sysfs = "/sys";  // with another root no driver of this machine is asked
  std::optional<RolesFile> roles;        // of an emulated machine's stand-ins
  std::string found_roles;               // the file that they were found in; not used where they do not fit this host
  bool wake = true;                      // wake idle GPUs before their links are read
  std::optional<TopoMatrix> against;     // the output of nvidia-smi topo -m on that machine
};

enum class FindingKind : std::uint8_t {
  PeerStatus,    // the driver and the rules disagree on peer access
  Distance,      // the driver or nvidia-smi gives a pair another distance than the machine
  SlowLink,      // a PCIe link runs below what both its ends support
  DeviceFigure,  // a device's figure differs from its part's
  Missing        // one source sees a device and another does not
};
std::string_view to_string(FindingKind kind);  // peer_status, distance, slow_link, device_figure, missing

struct Finding {
  FindingKind kind = FindingKind::PeerStatus;
  std::vector<std::string> subjects;  // what it applies to: "gpu0 > gpu1", "nic0"
  std::string text;  // "write: the driver says CNS (chipset not supported), the rules say pcie_p2p is legal"
  std::string rule;  // the id of the rule that disagrees; empty: none
};

struct Discovery {
  Machine machine;
  std::vector<Finding> findings;
  std::optional<RolesFile> roles;  // that were used
  HostFacts facts;
};

// Asks all sources. Throws InputError when the sysfs root is not one.
Discovery discover(DiscoverOptions const& options, Catalogue& catalogue);

// The steps of discover() after machine_of().
std::vector<Finding> findings_of(Machine const& machine, HostFacts const& facts);
std::vector<Finding> findings_against(Machine const& machine, TopoMatrix const& matrix);

// The machine, the findings, and the facts that a machine file cannot hold, as `discovery/1`.
nlohmann::ordered_json discovery_json(Discovery const& found);

}  // namespace lanewise::hw
