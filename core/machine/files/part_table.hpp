#pragma once
// The parts that a machine or cluster file may name: those under its key `parts`, then the catalogue's.
#include <map>
#include <optional>
#include <string>

#include "core/io/yaml.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

class PartTable {
 public:
  explicit PartTable(Catalogue& catalogue) : catalogue_(catalogue) {}

  // Reads the parts under `parts` of this mapping.
  void read_inline(MapReader& top);
  // The part of this name and kind, which is added to the machine; nullopt when it is `unknown`, or wrong (reported at
  // the node).
  std::optional<PartId> enter(Machine& machine, MapReader const& reader, YamlNode const& node, std::string const& name,
                              PartKind kind);

 private:
  Catalogue& catalogue_;
  std::map<std::string, Part> inline_parts_;
};

}  // namespace lanewise
