#pragma once
// Which of a plan's steps are slowed by the posted-write collapse (core/model/quirks.hpp).
#include <span>
#include <vector>

#include "core/model/quirks.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

// The members of each limit are indices of `steps`.
std::vector<QuirkLimit> posted_write_limits(Machine const& machine, std::span<Step const> steps);

}  // namespace lanewise
