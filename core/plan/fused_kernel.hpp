#pragma once
// Fused kernels: a collective that is one kernel on each GPU, without copy engines or the host between its steps.
#include <optional>
#include <span>
#include <string>

#include "lanewise/plan/plan.hpp"

namespace lanewise {

// More GPUs would need too many flags.
inline constexpr std::size_t kMaxFusedKernelGpus = 32;

// Why a step cannot be part of a fused kernel. nullopt: it can, as a load, store or addition within a GPU or between
// GPUs that reach one another.
std::optional<std::string> why_not_fusible(Step const& step, Machine const& machine);

// Whether all steps of a plan can be, on at most kMaxFusedKernelGpus. Does not check that they fit a kernel's shared
// memory.
bool fits_fused_kernel(std::span<Step const> steps, Machine const& machine);

}  // namespace lanewise
