#include "core/verdict/soft_nic.hpp"

#include <algorithm>

namespace lanewise {
namespace {

bool is_soft(Machine const& machine, PciId nic) {
  auto const* part = machine.part_of(nic);
  return part != nullptr && part->nic.driver == "rxe";
}

}  // namespace

bool is_soft_cluster(Machine const& machine) {
  if (machine.hosts.size() < 2 || !machine.fabric) return false;
  auto const& nics = machine.fabric->attachments;
  return std::all_of(nics.begin(), nics.end(),
                     [&](auto const& attachment) { return is_soft(machine, attachment.nic); });
}

std::string timing_exclusion(Plan const& plan, Machine const& machine) {
  auto const soft = [&](std::optional<PciId> const& nic) { return nic && is_soft(machine, *nic); };
  bool const any = std::any_of(plan.steps.begin(), plan.steps.end(),
                               [&](Step const& step) { return soft(step.way.nic_from) || soft(step.way.nic_to); });
  return any ? "Soft-RoCE: a processor does the NIC's work" : "";
}

}  // namespace lanewise
