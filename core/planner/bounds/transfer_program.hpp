#pragma once
#include <optional>
#include <vector>

#include "core/planner/bounds/best_division.hpp"
#include "core/planner/bounds/engine_constraints.hpp"
#include "core/planner/bounds/merged_transfers.hpp"
#include "core/planner/bounds/transfer_constraints.hpp"
#include "core/solver/linear_program.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"

namespace lanewise {

// The linear program over how many bytes of each transfer take which way, in the least time.
class TransferProgram {
 public:
  // As TransferConstraints. All arguments must outlive it.
  TransferProgram(std::vector<OpenTransfer> const& transfers, Model const& model, std::vector<double> const& head,
                  std::vector<double> const& tail, Seconds known = kUnknownTime)
      : constraints_(transfers, model, head, tail, known) {}

  // The weights of the best bound found, by the program or in closed form.
  [[nodiscard]] std::vector<double> weights();
  // For weights(): milliseconds; and what binds.
  [[nodiscard]] double bound_of(std::vector<double> const& weights) const { return constraints_.bound_of(weights); }
  [[nodiscard]] std::vector<LowerBound::Part> parts(std::vector<double> const& weights) const {
    return constraints_.parts(weights);
  }
  // Whether the ways in the program's solution hold more engines than there are. Then no plan achieves its time, unless
  // ways take turns. Set by weights().
  [[nodiscard]] bool needs_turns() const { return needs_turns_; }
  [[nodiscard]] double first_byte() const { return constraints_.first_byte(); }

  // Nullopt without a solver or with too many ways. `wanted`: as that of best_division().
  [[nodiscard]] std::optional<Division> division(Seconds wanted);

 private:
  std::optional<TransferSolution> optimum();
  [[nodiscard]] bool exceeds_engines(TransferSolution const& solution) const;
  [[nodiscard]] bool each_has_one_way() const;
  [[nodiscard]] std::optional<TransferSolution> solve_for_time() const;
  [[nodiscard]] TransferSolution solve_single_ways() const;
  [[nodiscard]] std::optional<std::vector<double>> least_congested_bytes(double makespan) const;

  // Rows of a program for the constraints.
  struct ConstraintRows {
    int first = 0;
    std::vector<int> of;             // of each constraint; -1: none. Ways of transfers that are one share a row
    std::vector<double> capacities;  // of each row
    [[nodiscard]] std::size_t size() const { return capacities.size(); }
  };
  [[nodiscard]] static LinearProgram demand_rows(MergedTransfers const& merged);
  [[nodiscard]] ConstraintRows add_constraint_rows(LinearProgram& program, MergedTransfers const& merged,
                                                   double time) const;
  void add_way_columns(LinearProgram& program, MergedTransfers const& merged, ConstraintRows const& rows,
                       double setup_cost_weight) const;

  TransferConstraints constraints_;
  bool needs_turns_ = false;
};

}  // namespace lanewise
