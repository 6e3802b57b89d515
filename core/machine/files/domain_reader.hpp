#pragma once
// Reads an entry of the key `domains` of a cluster file. Only for the reader of cluster files.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/io/yaml.hpp"
#include "core/machine/files/part_table.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

class DomainReader {
 public:
  // The cluster has all its nodes.
  DomainReader(MapReader& reader, PartTable& parts, Machine& cluster)
      : reader_(reader), parts_(parts), cluster_(cluster) {}

  // Adds the domain to the cluster's NVSwitches. What is wrong is reported.
  void read();

 private:
  std::optional<PartId> link_part();
  std::set<HostId> nodes();
  std::vector<PciId> gpus();
  void take_in_crossbars(NvSwitch const& domain);
  void check_ports(NvSwitch const& domain);

  MapReader& reader_;
  PartTable& parts_;
  Machine& cluster_;
};

}  // namespace lanewise
