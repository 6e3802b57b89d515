#include "core/interop/machines/topo_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/io/spelling.hpp"

namespace lanewise {
namespace {

Part const* checked(std::string const& name, PartKind kind, Catalogue& catalogue) {
  if (name.empty()) return nullptr;
  auto const* part = catalogue.part(name);
  if (part != nullptr && part->kind == kind) return part;
  throw InputError(
      part == nullptr
          ? fmt::format("no part is called '{}'{}", name, did_you_mean(name, catalogue.part_names()))
          : fmt::format("the part '{}' is a {}, but a {} is needed", name, to_string(part->kind), to_string(kind)));
}

// The named part, else the generic one where the catalogue has it, else none.
std::string named_or(std::string const& name, std::string const& generic, Catalogue& catalogue) {
  if (!name.empty()) return name;
  return catalogue.part(generic) != nullptr ? generic : std::string();
}

// Boards pair GPUs with switches of their own PCIe generation.
std::string usual_switch(Part const* gpu) {
  auto const generation = gpu != nullptr && gpu->pcie.link ? gpu->pcie.link->generation : 0;
  return generation >= 3 && generation <= 5 ? fmt::format("pcie-switch-gen{}", generation) : "pcie-switch-generic";
}

}  // namespace

TopoParts::TopoParts(TopoOptions const& options, Catalogue& catalogue)
    : options_(options), named_gpu_(checked(options.gpu, PartKind::Gpu, catalogue)) {
  checked(options.cpu, PartKind::Cpu, catalogue);
  checked(options.nic, PartKind::Nic, catalogue);
  checked(options.pcie_switch, PartKind::Switch, catalogue);
  gpu_ = named_or(options.gpu, "gpu-generic", catalogue);
  cpu_ = named_or(options.cpu, "cpu-generic", catalogue);
  nic_ = named_or(options.nic, "nic-generic", catalogue);
  switch_ = named_or(options.pcie_switch, usual_switch(named_gpu_), catalogue);
}

void TopoParts::note_generic(TopoMatrix const& matrix, bool has_switches, MachineBuilder& builder) const {
  auto const has = [&](bool gpu) {
    return std::any_of(matrix.devices.begin(), matrix.devices.end(),
                       [&](TopoMatrix::Device const& device) { return device.gpu == gpu; });
  };
  auto const add = [&](std::string const& given, std::string const& part, std::string_view what,
                       std::string_view option) {
    if (!given.empty()) return;
    if (part.empty())
      builder.note(fmt::format("the table does not say the product of {}; {} names it", what, option));
    else
      builder.note_stand_in(part, fmt::format("{}, whose product the table does not say", what), option);
  };
  if (has(true)) add(options_.gpu, gpu_, "the GPUs", "--gpu");
  add(options_.cpu, cpu_, "the CPUs", "--cpu");
  if (has(false)) add(options_.nic, nic_, "the NICs", "--nic");
  if (has_switches) add(options_.pcie_switch, switch_, "the PCIe switches", "--switch");
}

}  // namespace lanewise
