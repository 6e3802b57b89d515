#pragma once
// The parts of the components of an Infrastructure: those that the user names, those that a description names, and
// generic ones, with a wide range, for the rest.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/interop/machines/infragraph/graph.hpp"
#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/topo_parts.hpp"

namespace lanewise {

class InfraParts {
 public:
  // Throws InputError where an option names no part of its kind. Notes go to `builder`; both arguments must outlive it.
  InfraParts(TopoOptions const& options, MachineBuilder& builder);

  // The part of a component; empty, with a note, where nothing names it and no generic part may stand for it. `link`:
  // of a switch, the link above it.
  std::string part_of(InfraNode const& node, PartKind kind, std::optional<PcieLink> link = std::nullopt);
  // The part of a CPU that the file does not have.
  std::string absent_cpu();

 private:
  std::string described_part(PartKind kind, std::string const& description);
  std::string generic_accelerator(InfraNode const& node);
  std::string stand_in(PartKind kind, InfraNode const& node, std::optional<PcieLink> link);
  void note_unknown(std::string_view kinds, std::string const& description, std::string_view option);

  TopoOptions const& options_;
  MachineBuilder& builder_;
  TopoParts named_or_generic_;
  std::map<std::pair<PartKind, std::string>, std::string> described_;
};

}  // namespace lanewise
