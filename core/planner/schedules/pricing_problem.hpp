#pragma once
// The pricing problem of the configuration program (column generation, Gilmore and Gomory 1961): which flows are worth
// most side by side, for given prices of the bytes that they move. A heuristic, so there may be a better configuration.
//
//   CandidateFlows flows(set, model);
//   PricingProblem pricing(flows);
//   std::vector<Configuration> others;
//   auto const best = pricing.solve(prices, others, 25);
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "core/planner/schedules/candidate_flows.hpp"

namespace lanewise {

class PricingProblem {
 public:
  // `flows` must outlive it. The same `seed` gives the same results.
  explicit PricingProblem(CandidateFlows& flows, unsigned seed = 1);

  // The best configuration found; empty where nothing has a positive value. `prices`: of a megabyte of each transfer.
  // Adds good configurations found on the way to `others` (ScheduleLimits::min_kept_value).
  //
  // Iterated local search (Lourenço, Martin and Stützle, 2003): a greedy start, then moves that add or remove one flow
  // while any helps, then the same again from so many perturbations of the best.
  Configuration solve(std::vector<double> const& prices, std::vector<Configuration>& others, int perturbations);

 private:
  using Flows = std::vector<std::uint32_t>;
  enum class Vary : std::uint8_t { No, ByItself, ForEachEngine };
  // A configuration under change.
  struct Selection {
    Flows flows;                  // ascending
    std::vector<double> rates;    // by flow; 0 if not selected
    std::vector<int> used_slots;  // by engine
    double value = 0;
  };

  [[nodiscard]] Selection nothing() const;
  [[nodiscard]] Configuration configuration_of(Selection const& selection) const;
  [[nodiscard]] double price_of(std::uint32_t flow) const { return (*prices_)[flows_[flow].transfer]; }
  [[nodiscard]] bool fits(Selection const& selection, std::uint32_t flow) const;
  Flows order_of(Vary vary);
  bool make_room(Selection const& selection, std::uint32_t flow);
  [[nodiscard]] std::optional<std::uint32_t> least_valuable(Selection const& selection, EngineId engine) const;
  void reach_neighbours(std::uint32_t flow);
  void find_affected(std::optional<std::uint32_t> added);
  bool toggle(Selection& selection, std::uint32_t flow);
  bool replace(Selection& selection, std::optional<std::uint32_t> added, double min_value);
  void local_search(Selection& selection, Flows const& order);
  void perturb(Selection& selection);

  CandidateFlows& flows_;
  std::mt19937 random_;

  // Scratch of the change under way.
  std::vector<double> const* prices_ = nullptr;
  Flows removed_;
  Flows next_;
  std::vector<std::uint64_t> unreached_;  // bits of the next flows that are not affected as far as known
  Flows affected_;                        // next flows whose rates may change
};

}  // namespace lanewise
