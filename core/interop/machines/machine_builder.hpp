#pragma once
// Builds a Machine in the order of a machine file, so that it reads back equal. Importers and discovery use it.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Derives a machine's name from a file's: "lab/node 7.xml" gives "node-7".
std::string machine_name_from(std::string_view file);

// Builds the Machine of one host. Whatever the source does not say, or the catalogue lacks, stays unknown, with a note.
// Add each socket and then its functions; add socket links, NVLink bundles and NVSwitches last.
class MachineBuilder {
 public:
  // `source`: what notes call the origin of the facts: "the file", "the system".
  MachineBuilder(std::string name, Catalogue& catalogue, std::string source = "the file");

  void note(std::string text);  // ignores a text that is there already
  // Notes that a part stands for a product that the source does not tell, and which option names the exact one.
  void note_stand_in(std::string_view part, std::string_view what, std::string_view option);
  [[nodiscard]] std::string const& source() const { return source_; }
  [[nodiscard]] Settings& settings() { return machine_.hosts.front().settings; }
  [[nodiscard]] Software& software() { return machine_.hosts.front().software; }
  [[nodiscard]] Catalogue& catalogue() { return catalogue_; }
  [[nodiscard]] Machine const& machine() const { return machine_; }

  // Enters the catalogue's part of this name and kind. nullopt for "" (unknown); also, with a note, when there is none.
  std::optional<PartId> part(std::string const& name, PartKind kind);
  // Parts that come before those of the catalogue; part() enters those that are used.
  void use_parts(std::vector<Part> parts) { own_parts_ = std::move(parts); }
  // The same for links and NVSwitches, which cannot stay unknown: a part without figures stands in.
  PartId part_or_stand_in(std::string const& name, PartKind kind, LinkFamily family = LinkFamily::NvLink);
  // The name of the catalogue's part with this PCI id ("10de:2335") and kind; empty, with a note, when there is none.
  std::string part_by_pci_id(std::string const& id, PartKind kind);
  // Enters a part that the machine's own file describes.
  PartId inline_part(Part part);

  // A NUMA node whose index is taken gets a free one, with a note.
  SocketId add_socket(std::string const& part_name, int numa_index, std::string cores);
  // Adds a further NUMA node to the socket that was added last.
  NumaId add_numa(SocketId socket, int numa_index, std::string cores);
  // Finds or adds a host bridge. `numa`: its NUMA node; default: the socket's first.
  HostBridgeId host_bridge(SocketId socket, std::string name, std::optional<NumaId> numa = std::nullopt);
  PciId add_root_port(std::string name, HostBridgeId bridge);
  // Adds a function; set its part before. A link faster than its part or the port above it allows is reduced, with a
  // note.
  PciId add(PciFunction function);
  // Sets a NIC's rate where it is slower than its part's; set the part before.
  void set_rate(PciFunction& nic, BytesPerSecond rate) const;
  // The next free name of a kind, such as "gpu3".
  std::string next_name(PciKind kind);

  // Links every pair of sockets as boards with this CPU usually do, or by a generic link where that is not known; a
  // note says so.
  void add_usual_socket_links();
  // Links that the source names. `part` must be a link of the catalogue.
  void add_socket_link(SocketId a, SocketId b, std::string const& part, int count);
  void add_nvlink(NvlinkEnd a, NvlinkEnd b, PartId part, int count);
  void add_nvswitch(int link_generation, std::vector<NvSwitch::Port> ports);
  // The NVLink part of a generation (0: not known). `chip`: some have links of another speed, such as ga102.
  PartId nvlink_part(int generation, std::string const& chip = {});
  // The part of xGMI between GPUs of this part; nullptr where the product is not known.
  PartId gpu_xgmi_part(Part const* gpu);
  // The generic part of a maker's GPUs ("amd"); empty where the catalogue has none.
  std::string generic_gpu_of(std::string_view vendor);

  // Throws InputError when a GPU has more NVLinks than its part has ports: the source or the user names a wrong part.
  void check_nvlink_ports() const;

  // Where the links take more lanes than a CPU or switch has, a note says so.
  Machine take();

 private:
  PartId enter(Part part);
  PartId generic_link_part(std::string const& name, LinkFamily family, std::string_view what);
  [[nodiscard]] int free_numa_index(int wanted) const;
  void link_all_sockets(PartId link, int count);
  void add_generic_socket_links();
  [[nodiscard]] std::optional<PcieLink> max_link(PciFunction const& function) const;

  Catalogue& catalogue_;
  std::string source_;
  Machine machine_;
  std::vector<Part> own_parts_;
  std::array<int, 6> named_{};  // by PciKind
};

}  // namespace lanewise
