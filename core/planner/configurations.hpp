#pragma once
// The configuration program of a set: which ways should move side by side, and for how long. Where engines are few,
// what is best moves now by one way and then by another, so that engines and links are full throughout; no division of
// the bytes alone says so.
//
//   ConfigurationProgram program(set, model);
//   auto const timetable = program.solve();
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "core/planner/draft.hpp"
#include "core/planner/linear_program.hpp"
#include "core/planner/sharing.hpp"

namespace lanewise {

// What moves when.
struct Timetable {
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
// worth most a search finds out, so there may be a shorter timetable still.
class ConfigurationProgram {
 public:
  // Both must outlive it.
  ConfigurationProgram(TransferSet const& set, Model const& model);
  ConfigurationProgram(ConfigurationProgram const&) = delete;  // what flows refers to its own lists
  ConfigurationProgram& operator=(ConfigurationProgram const&) = delete;
  ~ConfigurationProgram() = default;

  // How much of a transfer goes over an option in one piece, where that is more than 0: what a piece takes to start and
  // between its chunks counts with its rate from now on, the latter as `beside` other engines at work or as by itself.
  // At first every option has the rate that it has alone.
  void set_pieces(std::vector<Shares> const& bytes, bool beside);
  // The shortest found, in several forms: of ever fewer slices, and these in several orders. None where there is no
  // solver.
  std::vector<Timetable> solve();
  // What no timetable of these rates beats, or as much of it as is soon found out. 0 where there is no solver.
  Seconds least();

 private:
  struct Lane {
    std::size_t transfer = 0;
    std::size_t option = 0;
    double rate = 0;     // alone, gigabytes a second
    double latency = 0;  // milliseconds
    InlineVector<EngineId, 4> engines;
  };
  struct Configuration {
    std::vector<std::uint32_t> lanes;  // ascending
    std::vector<double> rates;
  };
  struct Priced {
    Configuration configuration;
    double worth = 0;  // of what it moves in a millisecond
  };
  using Order = std::vector<std::uint32_t>;
  struct Answer {
    double makespan = 0;         // milliseconds, of the shortest timetable found
    std::vector<double> prices;  // of a megabyte of each transfer, at which a timetable would hardly be shorter
    double most = 0;             // worth of what a known configuration moves in a millisecond at these
  };

  void set_piece(std::uint32_t lane, Bytes bytes, bool beside);
  void share(Configuration& configuration);
  [[nodiscard]] double worth_of(Configuration const& configuration, std::vector<double> const& prices) const;
  [[nodiscard]] int missing(EngineId engine, Configuration const& configuration, std::uint32_t lane) const;
  [[nodiscard]] bool fits(Configuration const& configuration, std::uint32_t lane) const;
  Order order_of(std::vector<double> const& prices, int attempt);
  bool take(Priced& best, std::vector<std::uint32_t> lanes, std::vector<double> const& prices);
  bool change(Priced& best, std::uint32_t lane, std::vector<double> const& prices);
  [[nodiscard]] std::vector<std::uint32_t> in_place_of_others(Priced const& best, std::uint32_t lane,
                                                              std::vector<double> const& prices) const;
  void climb(Priced& from, Order const& order, std::vector<double> const& prices);
  Priced worth_most(std::vector<double> const& prices, int attempt);
  void add(Configuration configuration);
  [[nodiscard]] double worth_of_all(std::vector<double> const& prices) const;
  [[nodiscard]] double most_known(std::vector<double> const& prices) const;
  std::optional<Answer> generate();
  [[nodiscard]] std::vector<std::size_t> all() const;
  [[nodiscard]] std::vector<std::size_t> likely(std::vector<double> const& lasts,
                                                std::vector<double> const& prices) const;
  [[nodiscard]] std::optional<LinearSolution> shortest(std::vector<std::size_t> const& some,
                                                       std::vector<double> const& costs) const;
  [[nodiscard]] std::optional<std::vector<double>> lasting(std::vector<double> lasts, double makespan,
                                                           double thrift) const;
  [[nodiscard]] double saved_between(std::size_t one, std::size_t other) const;
  [[nodiscard]] std::vector<std::size_t> in_line(std::vector<double> const& lasts, std::size_t order) const;
  [[nodiscard]] Timetable timetable(std::vector<double> const& lasts, std::vector<std::size_t> const& line) const;

  TransferSet const& set_;
  Model const& model_;
  std::vector<double> bytes_;  // of the transfers, megabytes
  std::vector<Lane> lanes_;
  std::vector<std::vector<Sharing::Use>> uses_;  // of the lanes
  std::vector<Sharing::Flow> flows_;             // of the lanes
  std::vector<Sharing::Flow*> flowing_;
  Sharing sharing_;
  std::vector<Configuration> configurations_;
  std::set<std::vector<std::uint32_t>> known_;
  bool has_answered_ = false;
  std::minstd_rand random_{1};  // the same numbers every time
};

}  // namespace lanewise
