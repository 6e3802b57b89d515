// The only place that includes Clp (COIN-OR linear programming).
#include <coin/Clp_C_Interface.h>

#include <memory>

#include "core/planner/linear_program.hpp"

bool lanewise_lp_solve(lanewise::LinearProgram const* program, lanewise::LinearSolution* solution) {
  std::unique_ptr<Clp_Simplex, decltype(&Clp_deleteModel)> const model(Clp_newModel(), Clp_deleteModel);
  Clp_setLogLevel(model.get(), 0);
  std::vector<int> rows;
  std::vector<double> values;
  for (auto const& entry : program->entries) {
    rows.push_back(entry.row);
    values.push_back(entry.value);
  }
  std::vector<double> least;
  std::vector<double> most;
  for (auto const& row : program->rows) {
    least.push_back(row.at_least);
    most.push_back(row.at_most);
  }
  Clp_loadProblem(model.get(), static_cast<int>(program->cost.size()), static_cast<int>(program->rows.size()),
                  program->starts.data(), rows.data(), values.data(), nullptr, program->most.data(),
                  program->cost.data(), least.data(), most.data());
  Clp_dual(model.get(), 0);
  if (Clp_status(model.get()) != 0) return false;
  auto const* x = Clp_primalColumnSolution(model.get());
  auto const* duals = Clp_dualRowSolution(model.get());
  solution->x.assign(x, x + program->cost.size());
  solution->duals.assign(duals, duals + program->rows.size());
  return true;
}
