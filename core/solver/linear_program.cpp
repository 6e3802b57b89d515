#include "core/solver/linear_program.hpp"

#include <dlfcn.h>

#include "core/io/interrupt.hpp"
#include "core/io/own_library.hpp"

namespace lanewise {
namespace {

using Solve = decltype(&lanewise_lp_solve);

Solve solver() {
  static auto const found = [] {
    auto* const library = own_library("liblanewise_lp.so");
    return library != nullptr ? reinterpret_cast<Solve>(dlsym(library, "lanewise_lp_solve")) : nullptr;
  }();
  return found;
}

}  // namespace

std::optional<LinearSolution> solve(LinearProgram const& program, Basis const& from) {
  throw_if_interrupted();
  LinearSolution solution;
  if (solver() == nullptr || !solver()(&program, &from, &solution)) return std::nullopt;
  return solution;
}

std::optional<std::string_view> linear_solver() {
  return solver() != nullptr ? std::optional<std::string_view>("Clp") : std::nullopt;
}

}  // namespace lanewise
