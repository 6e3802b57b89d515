#pragma once
// Reads a machine file into a Machine and reports everything that is wrong with it. Only for read_machine().
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/yaml.hpp"
#include "core/machine/files/part_table.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

class MachineReader {
 public:
  MachineReader(SourceText const& source, Catalogue& catalogue) : source_(source), catalogue_(catalogue) {}

  // Throws InputError with every problem. To be called once.
  Machine read();

 private:
  // machine_reader.cpp: parts and names
  // The part of this name and kind, which is added to the machine; nullopt when it is `unknown`, or wrong (reported).
  std::optional<PartId> enter_part(MapReader const& reader, YamlNode const& node, std::string const& name,
                                   PartKind kind);
  // The same for the part that the key `part` names.
  std::optional<PartId> referenced_part(MapReader& reader, PartKind kind);
  // Takes a name for this thing; false, after a report, when another has it.
  bool claim_name(MapReader const& reader, YamlNode const& node, std::string const& name);
  std::optional<SocketId> socket_named(std::string_view name) const;
  std::optional<PciId> gpu_named(std::string_view name) const;
  // Reports a name that no thing of this kind has.
  void report_dangling(MapReader const& reader, std::string_view key, std::string const& name,
                       std::string_view kind) const;
  void check_cliques(MapReader const& top);
  void check_port_owners(MapReader const& top);

  // pci_tree_reader.cpp: sockets, NUMA nodes and the PCI tree
  void read_socket(MapReader& reader);
  void add_numa(MapReader const& reader, NumaNode node);
  void read_top_port(MapReader& reader, SocketId socket, NumaId first_numa);
  // The host bridge that a port names. A root port that names none shares its socket's or has its own: the CPU's part
  // says which.
  HostBridgeId host_bridge(MapReader& reader, SocketId socket, NumaId numa, std::string const& port_name);
  // The index of what the port holds among switch, gpu, nic, nvme, device; their number when it holds nothing.
  static std::size_t occupant_of(MapReader const& reader);
  void read_port(MapReader& reader, HostBridgeId bridge, std::optional<PciId> parent);
  static void read_fields(MapReader& reader, PciFunction& function);
  // Reports a link that is wider or faster than the datasheet of the device or of the port above it allows.
  void check_link(MapReader const& reader, PciFunction const& function);

  // link_reader.cpp: links between sockets, NVLink, overrides
  std::optional<std::array<std::string, 2>> read_two_ends(MapReader& reader);
  void read_socket_link(MapReader& reader);
  std::optional<PartId> read_nvlink_part(MapReader& reader);
  void read_nvlink(MapReader& reader);
  // The crossbar of this name, or nullptr. Entries with one name are one crossbar, whose GPUs may have different
  // numbers of links.
  NvSwitch* nvswitch_named(std::string_view name);
  void read_nvswitch(MapReader& reader, std::optional<PartId> link, std::optional<int> count);
  static std::vector<std::string> names_in(MapReader const& reader, YamlNode const& item);
  void check_nvlink_ports(MapReader const& top);
  void read_override(MapReader& reader);

  SourceText const& source_;
  Catalogue& catalogue_;
  Diagnostics diagnostics_;
  Machine machine_;
  PartTable parts_{catalogue_};
  std::map<std::string, int> names_;             // and the line that took it
  std::vector<std::string> enclosing_switches_;  // of the port that is being read
};

}  // namespace lanewise
