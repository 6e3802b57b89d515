#pragma once
// The configuration program of a set: which ways should move side by side, and for how long. Where engines are few,
// what is best moves now by one way and then by another, so that engines and links are full throughout; no division of
// the bytes alone says so.
//
//   ConfigurationProgram program(set, model);
//   auto const schedule = program.solve();
#include <optional>
#include <set>
#include <vector>

#include "core/planner/schedules/pricing_problem.hpp"
#include "core/planner/sets/draft.hpp"
#include "core/solver/linear_program.hpp"

namespace lanewise {

// What moves when.
struct Schedule {
  struct Moving {
    std::size_t transfer = 0;
    std::size_t option = 0;
    double bytes = 0;  // in that slice
  };
  struct Slice {
    Seconds lasts{0};
    std::vector<Moving> moving;
  };
  std::vector<Slice> slices;  // one after the other
};

// Of transfers that may all begin at once. A configuration is a set of ways whose engines suffice, at the rates at
// which they share what they pass. The program minimises the time for which configurations last, so that all bytes
// move; configurations join it as the prices of its last answer ask for them (column generation). Which one these make
// worth most a search finds out, so there may be a shorter schedule still.
class ConfigurationProgram {
 public:
  // Both must outlive it. `seed`: of the random numbers that its search goes by.
  ConfigurationProgram(TransferSet const& set, Model const& model, unsigned seed = 1);

  // How much of a transfer goes over an option in one piece, where that is more than 0: what a piece takes to start and
  // between its chunks counts with its rate from now on, the latter as beside other engines at work. At first every
  // option has the rate that it has alone.
  void set_pieces(std::vector<Shares> const& bytes);
  // The shortest found, in several forms: of ever fewer slices, and these in several orders. None where there is no
  // solver.
  std::vector<Schedule> solve();
  // What no schedule of these rates beats, or as much of it as is soon found out. 0 where there is no solver.
  Seconds least();

 private:
  struct Answer {
    double makespan = 0;         // milliseconds, of the shortest schedule found
    std::vector<double> prices;  // of a megabyte of each transfer, at which a schedule would hardly be shorter
    double most = 0;             // worth of what a known configuration moves in a millisecond at these
  };

  void set_piece(std::uint32_t lane, Bytes bytes);
  [[nodiscard]] std::size_t count() const { return search_.lanes().size(); }
  [[nodiscard]] CandidateFlow const& at(std::size_t lane) const { return search_.lanes()[lane]; }
  void add(Configuration configuration);
  [[nodiscard]] double worth_of_all(std::vector<double> const& prices) const;
  [[nodiscard]] double most_known(std::vector<double> const& prices) const;
  std::optional<Answer> generate();
  [[nodiscard]] std::vector<std::size_t> all() const;
  [[nodiscard]] std::vector<std::size_t> likely(std::vector<double> const& lasts,
                                                std::vector<double> const& prices) const;
  std::optional<LinearSolution> shortest(std::vector<std::size_t> const& some, std::vector<double> const& costs);
  std::optional<std::vector<double>> lasting(std::vector<double> lasts, double makespan, double setup_cost_weight);
  [[nodiscard]] double saved_between(std::size_t one, std::size_t other) const;
  [[nodiscard]] std::vector<std::size_t> in_line(std::vector<double> const& lasts, std::size_t order) const;
  [[nodiscard]] Schedule schedule(std::vector<double> const& lasts, std::vector<std::size_t> const& line) const;

  TransferSet const& set_;
  Model const& model_;
  std::vector<double> bytes_;  // of the transfers, megabytes
  PricingProblem search_;
  std::vector<Configuration> configurations_;
  std::set<std::vector<std::uint32_t>> known_;
  Basis basis_;  // of the last program solved, with a column for each configuration known then
  bool has_answered_ = false;
};

}  // namespace lanewise
