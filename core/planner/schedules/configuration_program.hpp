#pragma once
// The configuration program of a transfer set: which flows should run side by side, and for how long. Where engines are
// few, the best plan moves a transfer now over one option and then over another, so that engines and links are busy
// throughout. A division of the bytes alone cannot express that.
//
//   ConfigurationProgram program(set, model);
//   auto const schedules = program.solve();
#include <optional>
#include <set>
#include <vector>

#include "core/planner/schedules/flow_symmetries.hpp"
#include "core/planner/schedules/pricing_problem.hpp"
#include "core/planner/schedules/schedule.hpp"
#include "core/planner/sets/draft.hpp"
#include "core/planner/sets/shares.hpp"
#include "core/solver/linear_program.hpp"

namespace lanewise {

// For transfers that may all begin at once. Minimises the total duration of configurations such that all bytes move: a
// linear program with one column for each configuration. Columns are generated as the duals of the last solution ask
// for them (column generation, Gilmore and Gomory 1961). The pricing problem is solved heuristically, so there may be a
// shorter schedule still.
class ConfigurationProgram {
 public:
  // `set` and `model` must outlive it. `seed`: of the pricing problem's random numbers.
  ConfigurationProgram(TransferSet const& set, Model const& model, unsigned seed = 1);

  // Sets the size of the pieces of each transfer on each option; 0 leaves that option as it is. The start-up time of a
  // piece and the gaps between its chunks, beside busy engines, then count as part of its rate. At first every option
  // has the rate that it has alone.
  void set_pieces(std::vector<Shares> const& bytes);
  // The flows that run side by side in a plan of the same set become columns, from which better ones are found sooner.
  void add_configurations_of(Evaluation const& evaluation);
  // By flow, in the order of CandidateFlows: equal for those that take one another's place. Their pieces should have
  // one size.
  [[nodiscard]] std::vector<std::uint32_t> kinds_of_flows() const;
  // The shortest schedules found, with ever fewer slices, each in several orders. Empty without a solver.
  std::vector<Schedule> solve();
  // A lower bound on the makespan of schedules at these rates. 0 without a solver.
  Seconds least();

 private:
  struct Solution {
    double makespan = 0;            // milliseconds, of the shortest schedule found
    std::vector<double> duals;      // prices of a megabyte of each transfer, which prove the best lower bound
    double max_value = 0;           // of the known configurations at these prices, per millisecond
    double lower_bound = 0;         // on that, as far as the pricing search finds the best configuration
    std::vector<double> durations;  // of the configurations, milliseconds
  };
  // The rows of a linear program over the configurations: what of the transfers together has to be moved.
  struct Master {
    std::vector<double> bytes;       // of a row, megabytes
    std::vector<std::uint32_t> row;  // of a transfer
    Basis basis{};                   // of the last solution, with a column for each configuration known then
  };

  void set_piece(std::uint32_t flow, Bytes bytes);
  void add(Configuration configuration);
  [[nodiscard]] double value_of_all_bytes(std::vector<double> const& prices) const;
  [[nodiscard]] double max_known_value(std::vector<double> const& prices) const;
  std::optional<Solution> generate_columns();
  bool generate_columns(Solution& found, Master& master, int rounds, double enough);
  [[nodiscard]] static std::vector<double> prices_of_transfers(Master const& master, std::vector<double> const& duals);
  void add_alike(std::vector<double> const& durations);
  [[nodiscard]] std::vector<std::size_t> all_columns() const;
  [[nodiscard]] std::vector<std::size_t> likely_columns(std::vector<double> const& durations,
                                                        std::vector<double> const& prices) const;
  std::optional<LinearSolution> solve(Master& master, std::vector<std::size_t> const& columns,
                                      std::vector<double> const& costs);
  std::optional<std::vector<double>> durations_with_setup_cost(std::vector<double> durations, double makespan,
                                                               double setup_cost_weight);
  [[nodiscard]] double setup_saved(std::size_t one, std::size_t other) const;
  [[nodiscard]] std::vector<std::size_t> in_use(std::vector<double> const& durations) const;
  [[nodiscard]] std::set<std::vector<std::size_t>> slice_orders(std::vector<double> const& durations) const;
  [[nodiscard]] Schedule schedule(std::vector<double> const& durations, std::vector<std::size_t> const& order) const;

  TransferSet const& set_;
  Model const& model_;
  std::vector<double> bytes_;  // of the transfers, megabytes
  CandidateFlows flows_;
  PricingProblem pricing_;
  std::vector<Configuration> configurations_;
  std::set<std::vector<std::uint32_t>> known_;
  std::optional<FlowSymmetries> symmetries_;  // of a set that is not small and has any
  Master transfers_;                          // a row for each transfer
  Master kinds_;                              // with symmetries: a row for each kind of transfers
  std::vector<double> last_duals_;            // those of the last Solution, from which the next one starts
  bool was_solved_ = false;
};

}  // namespace lanewise
