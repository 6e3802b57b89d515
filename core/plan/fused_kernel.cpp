#include "core/plan/fused_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/rules/conditions.hpp"

namespace lanewise {

std::optional<std::string> why_not_fusible(Step const& step, Machine const& machine) {
  if (step.work > Seconds(0)) return "it computes";
  if (!step.reads || !step.writes) return "its steps share no buffers";
  if (!gpu_at(machine, step.from) || !gpu_at(machine, step.to)) return "it touches host memory";
  switch (step.way.mechanism) {
    case Mechanism::Local:
    case Mechanism::Nvlink:
    case Mechanism::PcieP2p: break;
    default: return fmt::format("{} is no access of one GPU to another", to_string(step.way.mechanism));
  }
  if (step.op != Op::Copy && step.op != Op::Write && step.op != Op::Read)
    return fmt::format("{} is no load or store", to_string(step.op));
  if (step.op == Op::Copy && step.from != step.to) return "it asks for copy engines";
  return std::nullopt;
}

bool fits_fused_kernel(std::span<Step const> steps, Machine const& machine) {
  std::set<Place> gpus;
  return std::all_of(steps.begin(), steps.end(), [&](Step const& step) {
    gpus.insert(step.from);
    gpus.insert(step.to);
    return gpus.size() <= kMaxFusedKernelGpus && !why_not_fusible(step, machine);
  });
}

}  // namespace lanewise
