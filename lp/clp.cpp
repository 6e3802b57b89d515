// The only place that includes Clp (COIN-OR linear programming).
#include <coin/Clp_C_Interface.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/solver/linear_program.hpp"

namespace {

using lanewise::BasisStatus;

constexpr unsigned char kStatusBits = 7;                  // of Clp's entry; the others are its own
constexpr std::array<unsigned char, 3> kStatus{1, 3, 2};  // as Clp calls the stands (ClpSimplex::Status)

BasisStatus status_of(unsigned char status) {
  auto const found = std::find(kStatus.begin(), kStatus.end(), status & kStatusBits);
  return found == kStatus.end() ? BasisStatus::AtLower : static_cast<BasisStatus>(found - kStatus.begin());
}

void begin_at(Clp_Simplex* model, lanewise::Basis const& basis) {
  std::vector<unsigned char> status;
  for (auto const* stands : {&basis.columns, &basis.rows})
    for (auto const stand : *stands) status.push_back(kStatus.at(static_cast<std::size_t>(stand)));
  Clp_copyinStatus(model, status.data());
}

}  // namespace

bool lanewise_lp_solve(lanewise::LinearProgram const* program, lanewise::Basis const* from,
                       lanewise::LinearSolution* solution) {
  auto const columns = program->cost.size();
  auto const count = program->rows.size();
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
    least.push_back(row.lower);
    most.push_back(row.upper);
  }
  Clp_loadProblem(model.get(), static_cast<int>(columns), static_cast<int>(count), program->starts.data(), rows.data(),
                  values.data(), nullptr, program->upper.data(), program->cost.data(), least.data(), most.data());
  if (from->columns.size() == columns && from->rows.size() == count) begin_at(model.get(), *from);
  Clp_dual(model.get(), 0);
  if (Clp_status(model.get()) != 0) return false;
  auto const* x = Clp_primalColumnSolution(model.get());
  auto const* duals = Clp_dualRowSolution(model.get());
  auto const* status = Clp_statusArray(model.get());
  solution->x.assign(x, x + columns);
  solution->duals.assign(duals, duals + count);
  auto& [of_columns, of_rows] = solution->basis;
  of_columns.resize(columns);
  of_rows.resize(count);
  std::transform(status, status + columns, of_columns.begin(), status_of);
  std::transform(status + columns, status + columns + count, of_rows.begin(), status_of);
  return true;
}
