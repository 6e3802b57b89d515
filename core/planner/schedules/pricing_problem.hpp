#pragma once
// Which ways of a set of transfers are worth most side by side, for given prices of what they move: the column that
// joins the configuration program next. Found by small changes, so there may be a better one still.
//
//   PricingProblem search(set, model);
//   std::vector<Configuration> others;
//   auto const best = search.solve(prices, others);
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "core/estimate/sharing.hpp"
#include "core/planner/sets/draft.hpp"

namespace lanewise {

// A way of a transfer of the set.
struct CandidateFlow {
  std::size_t transfer = 0;
  std::size_t option = 0;
  double rate = 0;     // alone, gigabytes a second
  double latency = 0;  // milliseconds
  InlineVector<EngineId, 4> engines;
};

// Lanes whose engines suffice, at the rates at which they share what they pass.
struct Configuration {
  std::vector<std::uint32_t> lanes;  // ascending
  std::vector<double> rates;
};

class PricingProblem {
 public:
  // `model` must outlive it. `seed`: of the random numbers that it goes by.
  PricingProblem(TransferSet const& set, Model const& model, unsigned seed = 1);
  PricingProblem(PricingProblem const&) = delete;  // what flows refers to its own lists
  PricingProblem& operator=(PricingProblem const&) = delete;
  ~PricingProblem() = default;

  [[nodiscard]] std::vector<CandidateFlow> const& lanes() const { return lanes_; }
  [[nodiscard]] std::span<Sharing::Use const> uses(std::size_t lane) const { return uses_[lane]; }
  [[nodiscard]] std::vector<double> const& capacities() const { return sharing_.capacities(); }
  // What a lane has alone from now on. Configurations made before must be shared anew.
  void set_speed(std::uint32_t lane, double rate, double latency);

  // Sets the rates of a configuration.
  void share(Configuration& configuration);
  // What it moves in a millisecond. `prices`: of a megabyte of each transfer.
  [[nodiscard]] double worth_of(Configuration const& configuration, std::vector<double> const& prices) const;
  // The best found, or no lanes where nothing is worth anything. Adds what is found on the way and is worth about as
  // much as the best until then to `others`.
  Configuration solve(std::vector<double> const& prices, std::vector<Configuration>& others);

 private:
  using Lanes = std::vector<std::uint32_t>;
  enum class Vary : std::uint8_t { No, ByItself, ForEachEngine };
  // A configuration that is being changed.
  struct Selection {
    Lanes lanes;                // ascending
    std::vector<double> rates;  // by lane, 0 of those not in it
    std::vector<int> held;      // slots, by engine
    double worth = 0;
  };

  [[nodiscard]] bool are_near(std::uint32_t lane, std::uint32_t other) const;
  [[nodiscard]] Selection nothing() const;
  [[nodiscard]] Configuration configuration_of(Selection const& mix) const;
  [[nodiscard]] double price_of(std::uint32_t lane) const { return (*prices_)[lanes_[lane].transfer]; }
  [[nodiscard]] bool fits(Selection const& mix, std::uint32_t lane) const;
  Lanes order_of(Vary vary);
  bool make_room(Selection const& mix, std::uint32_t lane);
  void reach(std::uint32_t lane);
  bool change(Selection& mix, std::uint32_t lane);
  bool replace(Selection& mix, std::optional<std::uint32_t> added, double least);
  void local_search(Selection& from, Lanes const& order);

  Model const& model_;
  std::vector<CandidateFlow> lanes_;
  std::vector<std::vector<Sharing::Use>> uses_;   // of the lanes
  std::vector<Sharing::Flow> flows_;              // of the lanes
  std::size_t words_ = 0;                         // of a bit for each lane
  std::vector<std::vector<std::uint64_t>> near_;  // by lane: bits of those with which it has something in common
  Sharing sharing_;
  std::mt19937 random_;

  // Of the change in hand.
  std::vector<double> const* prices_ = nullptr;
  Lanes removed_;
  Lanes next_;
  std::vector<std::uint64_t> apart_;  // bits of the next lanes not reached yet
  Lanes reached_;                     // those whose rates may become others
  std::vector<Sharing::Flow*> flowing_;
};

}  // namespace lanewise
