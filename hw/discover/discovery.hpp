#pragma once
// What `lanewise discover` finds: the machine, and where its sources disagree with each other or with our rules.
//
//   auto const found = discover({.name = "node7"}, catalogue);
//   write_file("node7.yaml", write_machine(found.machine));
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/interop/machines/roles.hpp"
#include "core/interop/machines/topo_matrix.hpp"
#include "core/machine/catalogue.hpp"
#include "core/machine/machine.hpp"
#include "hw/discover/facts.hpp"

namespace lanewise::hw {

struct DiscoverOptions {
  std::string name;                        // of the machine; empty: the host's
  std::filesystem::path sysfs = "/sys";    // another root is read alone: no driver of this machine is asked
  std::optional<std::vector<Role>> roles;  // of an emulated machine's stand-ins
  bool wake = true;                        // idle GPUs, before their links are read
  std::optional<TopoMatrix> against;       // what nvidia-smi topo -m printed there
};

enum class FindingKind : std::uint8_t {
  PeerStatus,    // the driver's word on peer access against the rules
  Distance,      // the driver's or nvidia-smi's distance of a pair against the machine's
  SlowLink,      // a PCIe link that runs below what both its ends can do
  DeviceFigure,  // a device has another figure than its part
  Missing        // a device that one source sees and another does not
};
std::string_view to_string(FindingKind kind);  // peer_status, distance, slow_link, device_figure, missing

struct Finding {
  FindingKind kind = FindingKind::PeerStatus;
  std::vector<std::string> subjects;  // all that it is true of: "gpu0 > gpu1", "nic0"
  std::string text;  // "write: the driver says CNS (chipset not supported), the rules say pcie_p2p is legal"
  std::string rule;  // the id of the rule that disagrees; empty: none
};

struct Discovery {
  Machine machine;
  std::vector<Finding> findings;
  Facts facts;
};

// Asks every source there is. Throws InputError when the sysfs root is none.
Discovery discover(DiscoverOptions const& options, Catalogue& catalogue);

// The parts of it. `roles` as above.
Machine machine_of(Facts const& facts, std::string const& name, std::optional<std::vector<Role>> const& roles,
                   Catalogue& catalogue);
std::vector<Finding> findings_of(Machine const& machine, Facts const& facts);
std::vector<Finding> findings_against(Machine const& machine, TopoMatrix const& matrix);

// The machine, the findings, and the facts for which a machine file has no place: `discovery/1`.
nlohmann::ordered_json discovery_json(Discovery const& found);

}  // namespace lanewise::hw
