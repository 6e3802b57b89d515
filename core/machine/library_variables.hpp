#pragma once
// NCCL's environment variables that `--set library.env.NAME=VALUE` takes.
#include <span>
#include <string_view>

namespace lanewise {

struct LibraryVariable {
  std::string_view name;
  // Empty where NCCL's planner obeys the variable (core/planner/libraries/nccl); otherwise why a plan is the same with
  // it.
  std::string_view why_without_effect;
};

std::span<LibraryVariable const> library_variables();

// Null if no variable is called so.
LibraryVariable const* find_library_variable(std::string_view name);

}  // namespace lanewise
