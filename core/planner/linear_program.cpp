#include "core/planner/linear_program.hpp"

#include <dlfcn.h>

#include "core/io/own_library.hpp"

namespace lanewise {
namespace {

using Solve = bool (*)(LinearProgram const*, LinearSolution*);

Solve solver() {
  static auto const found = [] {
    auto* const library = own_library("liblanewise_lp.so");
    return library != nullptr ? reinterpret_cast<Solve>(dlsym(library, "lanewise_lp_solve")) : nullptr;
  }();
  return found;
}

}  // namespace

std::optional<LinearSolution> solve(LinearProgram const& program) {
  LinearSolution solution;
  if (solver() == nullptr || !solver()(&program, &solution)) return std::nullopt;
  return solution;
}

std::optional<std::string_view> linear_solver() {
  return solver() != nullptr ? std::optional<std::string_view>("Clp") : std::nullopt;
}

}  // namespace lanewise
