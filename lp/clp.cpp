// The only place that includes Clp (COIN-OR linear programming).
#include <coin/Clp_C_Interface.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/solver/linear_program.hpp"

namespace {

using lanewise::BasisStatus;

constexpr unsigned char kStatusMask = 7;                  // of Clp's status byte; the other bits are internal to it
constexpr std::array<unsigned char, 3> kStatus{1, 3, 2};  // ClpSimplex::Status of each BasisStatus

BasisStatus status_of(unsigned char status) {
  auto const found = std::find(kStatus.begin(), kStatus.end(), status & kStatusMask);
  return found == kStatus.end() ? BasisStatus::AtLower : static_cast<BasisStatus>(found - kStatus.begin());
}

void set_basis(Clp_Simplex* model, lanewise::Basis const& basis) {
  std::vector<unsigned char> status;
  for (auto const* statuses : {&basis.columns, &basis.rows})
    for (auto const one : *statuses) status.push_back(kStatus.at(static_cast<std::size_t>(one)));
  Clp_copyinStatus(model, status.data());
}

}  // namespace

bool lanewise_lp_solve(lanewise::LinearProgram const* program, lanewise::Basis const* from,
                       lanewise::LinearSolution* solution) {
  auto const columns = program->cost.size();
  auto const row_count = program->rows.size();
  std::unique_ptr<Clp_Simplex, decltype(&Clp_deleteModel)> const model(Clp_newModel(), Clp_deleteModel);
  Clp_setLogLevel(model.get(), 0);
  std::vector<int> rows;
  std::vector<double> values;
  for (auto const& entry : program->entries) {
    rows.push_back(entry.row);
    values.push_back(entry.value);
  }
  std::vector<double> lower;
  std::vector<double> upper;
  for (auto const& row : program->rows) {
    lower.push_back(row.lower);
    upper.push_back(row.upper);
  }
  Clp_loadProblem(model.get(), static_cast<int>(columns), static_cast<int>(row_count), program->starts.data(),
                  rows.data(), values.data(), nullptr, program->upper.data(), program->cost.data(), lower.data(),
                  upper.data());
  // Of programs that get more columns or other costs the last optimum is still feasible, which the primal simplex
  // method goes on from: sets of 56 transfers are planned in two thirds of the time.
  bool const has_basis = from->columns.size() == columns && from->rows.size() == row_count;
  if (has_basis) {
    set_basis(model.get(), *from);
    Clp_primal(model.get(), 0);
  }
  if (!has_basis || Clp_status(model.get()) != 0) Clp_dual(model.get(), 0);
  if (Clp_status(model.get()) != 0) return false;
  auto const* x = Clp_primalColumnSolution(model.get());
  auto const* duals = Clp_dualRowSolution(model.get());
  auto const* status = Clp_statusArray(model.get());
  solution->x.assign(x, x + columns);
  solution->duals.assign(duals, duals + row_count);
  auto& [of_columns, of_rows] = solution->basis;
  of_columns.resize(columns);
  of_rows.resize(row_count);
  std::transform(status, status + columns, of_columns.begin(), status_of);
  std::transform(status + columns, status + columns + row_count, of_rows.begin(), status_of);
  return true;
}
