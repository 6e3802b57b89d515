#include "core/verdict/timing_exclusion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/plan/run_environment.hpp"
#include "lanewise/verdict/verdict.hpp"

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

std::string timing_exclusion(Trace const& trace) {
  if (auto const started = trace.environment.find(kNodesEnvironmentKey); started != trace.environment.end())
    return fmt::format("the nodes were {}", started->second);
  if (auto const shared = trace.environment.find(kSharedHostKey); shared != trace.environment.end())
    return fmt::format("{}: the network between them is that host's memory", shared->second);
  if (auto const staged = trace.environment.find(kCompatibilityModeKey); staged != trace.environment.end())
    return fmt::format("{}: cuFile's compatibility mode staged through host memory what storage_direct moved",
                       staged->second);
  return {};
}

bool is_message_cluster(Machine const& machine) {
  if (machine.hosts.size() < 2 || !machine.fabric) return false;
  auto const& nics = machine.fabric->attachments;
  return std::all_of(nics.begin(), nics.end(), [&](auto const& attachment) {
    auto const* part = machine.part_of(attachment.nic);
    return (part != nullptr && !part->nic.rdma) || machine.at(machine.host_of(attachment.nic)).software.mpi_messages;
  });
}

}  // namespace lanewise
