#pragma once
// Collectives that every GPU does with one kernel of its own: no engine and no host between their steps.
#include <optional>
#include <span>
#include <string>

#include "core/plan/plan.hpp"

namespace lanewise {

// Beyond so many GPUs their flags are too many.
inline constexpr std::size_t kMaxFusedKernelGpus = 32;

// Why a step cannot be part of such kernels; nullopt: it is a load, store or addition within a GPU or between GPUs that
// reach one another.
std::optional<std::string> why_not_fusible(Step const& step, Machine const& machine);

// Whether all of these steps, of one plan, are. What a kernel's shared memory holds is not looked at.
bool fits_fused_kernel(std::span<Step const> steps, Machine const& machine);

}  // namespace lanewise
