#pragma once
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/planner/collectives/trees/arborescence.hpp"
#include "core/planner/collectives/trees/leg_table.hpp"
#include "core/planner/collectives/trees/packing.hpp"
#include "core/solver/linear_program.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise {

// Whether trees can be packed: a broadcast or all_gather, a linear solver in this build, and few enough sites that
// every subset of the non-participants can be tried for every root.
bool can_be_packed(Collective const& collective, Sites const& sites);

// The linear program of packing arborescences (Edmonds, Edge-disjoint branchings, 1973, packs them in graphs; here they
// share resources with weights): how many bytes each tree carries, so that everything arrives in the least time. Solved
// by column generation (Gilmore and Gomory 1961): at the dual prices of the full resources, the cheapest tree of each
// root joins the program, until no tree is cheaper than those in it. The same prices give a lower bound.
class PackingProgram {
 public:
  // Without a style it is for a bound: data go by engines and by kernels, and the time that steps take to start counts.
  PackingProgram(Collective const& collective, Sites const& sites, Model const& model, PackingStyle const* style);

  // Minimises the time. False if there is no answer or none below `time_limit`.
  bool minimise_time(Seconds time_limit = kNoLimit);

  // From now on, a row counts as idle until something can have started on it: a step has to start, and nothing can be
  // read from host memory before it was written there. Nor does anything flow into memory so late that it is not read
  // in time. For a bound.
  void count_start_times();

  // Among all packings that take hardly longer, moves to the one with the least congestion and the fewest hops.
  // `setup_cost_weight`: what all bytes moved count against congestion.
  void relieve_congestion(double setup_cost_weight);

  // The packing found. Nullopt if the solver's rounding left a root without trees.
  [[nodiscard]] std::optional<Packing> packing() &&;

  // No packing takes less time than this.
  [[nodiscard]] Seconds bound() const { return legs_.seconds(bound_); }
  // The resources and engines that bind it, with their shares of it.
  [[nodiscard]] std::vector<std::pair<std::string, double>> binding(double min_share) const;

 private:
  static constexpr double kForever = std::numeric_limits<double>::infinity();
  static constexpr Seconds kNoLimit{kForever};

  struct Root {
    std::size_t participant = 0;
    double bytes = 0;  // a fraction of the collective's
  };

  std::optional<double> add_cheapest_trees();
  void add_tree(std::size_t root, Edges const& edges, std::vector<std::vector<std::uint32_t>> const& cheapest_leg);
  [[nodiscard]] double mean_depth(PackedTree const& tree) const;
  void update_bound(double cost);
  [[nodiscard]] double max_use(std::vector<std::size_t> const& legs, std::size_t row) const;
  [[nodiscard]] LinearProgram demand_rows() const;
  [[nodiscard]] int lp_row(std::size_t row) const { return static_cast<int>(roots_.size() + row); }
  void add_tree_columns(LinearProgram& program, double setup_cost_weight) const;
  [[nodiscard]] LinearProgram least_time_program() const;
  [[nodiscard]] LinearProgram least_congestion_program(double setup_cost_weight) const;
  void adopt(LinearSolution const& solution, std::size_t first_tree_column);

  Sites const& sites_;
  PackingStyle const* style_;
  double bytes_;
  std::vector<Root> roots_;
  LegTable legs_;
  std::vector<double> idle_;  // of rows: nothing flows for at least this long
  std::vector<PackedTree> trees_;
  std::vector<double> prices_;  // of rows: dual values
  std::vector<double> shares_;  // of rows, in the bound
  double bound_ = 0;
  double makespan_ = 0;
};

}  // namespace lanewise
