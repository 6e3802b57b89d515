#pragma once
// What importers and discovery share: filling a Machine in the order of a machine file, so that what they make reads
// back equal.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/machine/catalogue.hpp"
#include "core/machine/machine.hpp"

namespace lanewise {

// A name for a machine from the file it comes from: "lab/node 7.xml" gives "node-7".
std::string machine_name_from(std::string_view file);

// Fills the Machine of one host. What a file does not say and what the catalogue lacks stays unknown, with a note.
// Sockets come one after the other, each with its functions; socket links, NVLink bundles and NVSwitches come last.
class MachineBuilder {
 public:
  // `source` is what notes call the origin of the facts: "the file", "the system".
  MachineBuilder(std::string name, Catalogue& catalogue, std::string source = "the file");

  void note(std::string text);  // the same text only once
  [[nodiscard]] Settings& settings() { return machine_.hosts.front().settings; }
  [[nodiscard]] Software& software() { return machine_.hosts.front().software; }
  [[nodiscard]] Catalogue& catalogue() { return catalogue_; }
  [[nodiscard]] Machine const& machine() const { return machine_; }

  // The part of this name and kind; nullopt for "" (unknown), or, with a note, when there is none in the catalogue.
  std::optional<PartId> part(std::string const& name, PartKind kind);
  // The same for a link or an NVSwitch, which cannot be left unknown: a part without figures stands in.
  PartId part_or_stand_in(std::string const& name, PartKind kind, LinkFamily family = LinkFamily::NvLink);
  // The catalogue's part with this PCI id ("10de:2335") and kind; empty, with a note, when there is none.
  std::string part_by_pci_id(std::string const& id, PartKind kind);
  // Enters a part that is described in the machine itself.
  PartId part_of_its_own(Part part);

  SocketId add_socket(std::string const& part_name, int numa_index, std::string cores);
  // A further NUMA node of a socket, straight after it.
  NumaId add_numa(SocketId socket, int numa_index, std::string cores);
  // `numa`: where the socket has several NUMA nodes; its only one otherwise.
  HostBridgeId host_bridge(SocketId socket, std::string name, std::optional<NumaId> numa = std::nullopt);
  PciId add_root_port(std::string name, HostBridgeId bridge);
  // Adds a function whose part is set; a link that its part or the port above cannot do is cut, with a note.
  PciId add(PciFunction function);
  // States the rate of a NIC whose part is set, where it is slower than the part's.
  void set_rate(PciFunction& nic, BytesPerSecond rate) const;
  // "gpu3": the next name of a kind.
  std::string next_name(PciKind kind);

  // One pair of sockets after the other by the link that its CPU usually has; a note says so.
  void add_usual_socket_links();
  void add_nvlink(NvlinkEnd a, NvlinkEnd b, PartId part, int count);
  void add_nvswitch(int link_generation, std::vector<NvSwitch::Port> ports);
  // The NVLink part of a generation (0: not known) on a chip: ga102 has slower links than ga100.
  PartId nvlink_part(int generation, std::string const& chip = {});

  Machine take() { return std::move(machine_); }

 private:
  PartId enter(Part part);
  [[nodiscard]] std::optional<PcieLink> most_link(PciFunction const& function) const;

  Catalogue& catalogue_;
  std::string source_;
  Machine machine_;
  std::array<int, 6> named_{};  // by PciKind
};

}  // namespace lanewise
