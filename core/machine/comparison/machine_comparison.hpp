#pragma once
// What differs between two machines or clusters, in the machine's terms: devices, links, ACS, IOMMU, NUMA, parts.
//
//   auto comparison = compare_machines(as_described, as_found);
//   mark_expected(comparison, {{.kind = DifferenceKind::Nvlink, .reason = "QEMU has no NVLink"}});
//   if (comparison.result() == ComparisonResult::Different) ...
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

enum class DifferenceKind : std::uint8_t {
  Device,      // one has a device, socket or node that the other lacks, or it has another address or name in the system
  Location,    // it hangs from another port, host bridge or socket
  Link,        // its PCIe link: as trained, and what it could be
  Acs,         // the ACS control of the port above it
  Iommu,       // mode and page size
  Numa,        // the NUMA node near a device; the cores of a node
  Part,        // it is another product
  Figure,      // a figure of a part, or a measured override
  SocketLink,  // links between sockets
  Nvlink,      // NVLink, C2C and xGMI between GPUs and CPUs, NVSwitches
  Firmware,    // versions of firmware
  Setting,     // virtualization, and keys of devices such as mig, rate and rail
  Software,    // what is installed and loaded
  Fabric       // the network between nodes
};
std::string_view to_string(DifferenceKind kind);  // device, place, link, acs, ..., socket_link, ...
std::vector<std::string> difference_kind_names();
Parsed<DifferenceKind> parse_difference_kind(std::string_view text);

struct MachineDifference {
  DifferenceKind kind = DifferenceKind::Device;
  std::string subject;  // in the names of the first machine: "gpu0", "gpu0 - gpu1"; of the second where only it has it
  std::string key;      // what of it: "link", "max", "acs", "iommu", "numa", "count"
  // What each machine says: "gen4 x16". Empty: it does not say; "absent": it has no such thing.
  std::string first, second;
  std::vector<std::string> nodes;  // of clusters: the nodes of the first that differ so
  std::string expected;            // why this difference is no surprise; empty: it is one
  friend bool operator==(MachineDifference const&, MachineDifference const&) = default;
};

// The same thing under two names.
struct Renaming {
  std::string first, second;
  friend bool operator==(Renaming const&, Renaming const&) = default;
};

enum class ComparisonResult : std::uint8_t {
  Equal,
  EqualButForNames,  // the same devices with the same properties, under other names or in another order
  Different          // at least one difference that is not expected
};
std::string_view to_string(ComparisonResult result);  // equal, equal_but_for_names, different

struct MachineComparison {
  std::string first, second;  // the machines' names
  std::vector<MachineDifference> differences;
  std::vector<Renaming> renamed;
  bool reordered = false;
  [[nodiscard]] std::size_t unexpected() const;
  [[nodiscard]] ComparisonResult result() const;
};

// Devices are matched by their PCI address where both machines have it, else by their place in the tree. Titles, notes
// and the machines' own names are not compared. Addresses, names in the operating system and lists of cores count only
// where both machines give them. A PCIe link that a file leaves out is what its ends would negotiate.
MachineComparison compare_machines(Machine const& first, Machine const& second);

// Differences that somebody foresees, such as what an emulator cannot express.
struct ExpectedDifference {
  DifferenceKind kind = DifferenceKind::Device;
  std::string key = {};        // empty: every key of the kind
  std::string subject = {};    // empty: every subject
  std::string reason = {};     // why; must not be empty
  bool second_silent = false;  // only where the second machine does not say
};
// Gives every difference that one of these foresees its reason; the first that fits counts.
void mark_expected(MachineComparison& comparison, std::span<ExpectedDifference const> expected);

}  // namespace lanewise
