#include "core/planner/timetable.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "core/planner/configurations.hpp"
#include "core/planner/demands.hpp"
#include "core/planner/linear_program.hpp"
#include "core/planner/rounds.hpp"

namespace lanewise {
namespace {

// How often a timetable is made once more, with what its pieces really take to start.
constexpr int kTimes = 3;

// So far behind what is known already, it is not made again: the second is some percent shorter than the first.
constexpr double kHopeless = 1.05;

// Of what all timetables come to, so many of the best get pieces of other sizes so often, and then the best again: so
// much larger or smaller at most.
constexpr std::size_t kMostResized = 3;
constexpr int kResizings = 2;
constexpr int kMoreResizings = 6;
constexpr double kOtherSize = 0.1;
constexpr double kHardlyOther = 0.01;
// How far behind what is known they may be for that: it makes them some percent shorter.
constexpr double kWorthResizing = 1.1;

// A way of a transfer at work without a pause: from one slice to the end of another.
struct Stay {
  std::size_t transfer = 0;
  std::size_t option = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  double bytes = 0;
};

// Those of a transfer that are not worth their start go to its largest.
void drop_small(std::vector<Stay>& stays, TransferSet const& set, Model const& model) {
  std::vector<Stay*> largest(set.transfers.size(), nullptr);
  for (auto& stay : stays)
    if (auto*& most = largest[stay.transfer]; most == nullptr || stay.bytes > most->bytes) most = &stay;
  for (auto& stay : stays) {
    auto const& transfer = set.transfers[stay.transfer];
    auto* const most = largest[stay.transfer];
    if (&stay == most || is_worth_its_start(model, transfer, transfer.options[stay.option], stay.bytes)) continue;
    most->bytes += stay.bytes;
    stay.bytes = 0;
  }
  std::erase_if(stays, [](Stay const& stay) { return aligned(stay.bytes) <= Bytes(0); });
}

// In the order in which they begin.
std::vector<Stay> stays_of(Timetable const& timetable, TransferSet const& set, Model const& model) {
  std::vector<Stay> stays;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> latest;  // of a transfer and option
  for (std::size_t slice = 0; slice < timetable.slices.size(); ++slice)
    for (auto const& moving : timetable.slices[slice].moving) {
      auto const [known, is_new] = latest.try_emplace({moving.transfer, moving.option}, stays.size());
      if (is_new || stays[known->second].last + 1 < slice) {
        known->second = stays.size();
        stays.push_back({moving.transfer, moving.option, slice, slice, 0});
      }
      auto& stay = stays[known->second];
      stay.last = slice;
      stay.bytes += moving.bytes;
    }
  drop_small(stays, set, model);
  return stays;
}

bool all_move(std::vector<Stay> const& stays, TransferSet const& set) {
  std::vector<bool> moves(set.transfers.size(), false);
  for (auto const& stay : stays) moves[stay.transfer] = true;
  return std::find(moves.begin(), moves.end(), false) == moves.end();
}

// One for each stay.
std::vector<Portion> portions_of(std::vector<Stay> const& stays, TransferSet const& set) {
  std::vector<Portion> portions;
  std::vector<Bytes> done(set.transfers.size(), Bytes(0));
  std::vector<std::size_t> last(set.transfers.size());
  for (std::size_t k = 0; k < stays.size(); ++k) {
    auto const& [transfer, option, first, end, bytes] = stays[k];
    auto& before = done[transfer];
    auto const some = std::min(aligned(bytes), set.transfers[transfer].bytes - before);
    portions.push_back({transfer, option, before, some});
    before += some;
    last[transfer] = k;
  }
  for (std::size_t i = 0; i < done.size(); ++i) portions[last[i]].bytes += set.transfers[i].bytes - done[i];
  return portions;
}

// Whether two steps want the same engine, or more than there is of something at the rates that they have alone.
bool get_in_the_way(Demand const& one, double its_rate, Demand const& other, double others_rate, Model const& model) {
  auto const is_too_much = [&](Use const& use) {
    return std::any_of(other.uses.begin(), other.uses.end(), [&](Use const& of_other) {
      auto const wanted = use.weight.ratio() * its_rate + of_other.weight.ratio() * others_rate;
      return of_other.resource == use.resource && wanted > kHardlyShared * model.capacity(use.resource)->value();
    });
  };
  return share_an_engine(one, other) || std::any_of(one.uses.begin(), one.uses.end(), is_too_much);
}

// Every step waits for all that end before its slice and get in its way, if only by one that waits for them: what runs
// side by side is what the timetable says. Pieces of a transfer on one way have the rate of one.
Trial on_time(std::vector<Stay> const& stays, TransferSet const& set, Model const& model) {
  auto trial = laid_out(set, model, portions_of(stays, set));
  auto const demands = demands_of(model, trial.steps);
  std::vector<double> rates;  // alone
  for (auto const& stay : stays) rates.push_back(set.transfers[stay.transfer].options[stay.option].rate.value());
  auto const must_wait = [&](std::size_t one, std::size_t other) {
    return (stays[one].transfer == stays[other].transfer && stays[one].option == stays[other].option) ||
           get_in_the_way(demands[one], rates[one], demands[other], rates[other], model);
  };
  std::vector<std::size_t> latest_first(stays.size());
  std::iota(latest_first.begin(), latest_first.end(), std::size_t{0});
  std::stable_sort(latest_first.begin(), latest_first.end(),
                   [&](std::size_t one, std::size_t other) { return stays[one].last > stays[other].last; });
  std::vector<std::vector<bool>> is_through(stays.size());  // of each, who is when it begins
  for (std::size_t k = 0; k < stays.size(); ++k) {
    is_through[k].assign(stays.size(), false);
    for (auto const other : latest_first) {
      if (stays[other].last >= stays[k].first || is_through[k][other] || !must_wait(k, other)) continue;
      trial.steps[k].turns.push_back(StepId(other));
      std::transform(is_through[k].begin(), is_through[k].end(), is_through[other].begin(), is_through[k].begin(),
                     std::logical_or<>());
      is_through[k][other] = true;
    }
  }
  trial.run = estimate(model, trial.steps, demands);
  return trial;
}

// The program that gives the pieces of a run other sizes: when each begins, and by how much it is larger and smaller
// (its columns, in this order, behind that of the end of all), by a part `other` of them at most, so that all end
// earliest, in the same turns and at the rates that they had. Milliseconds and megabytes.
class Resizing {
 public:
  Resizing(std::vector<Stay> const& stays, Trial const& trial, TransferSet const& set, Model const& model, double other)
      : stays_(stays), other_(other), before_(stays.size()), behind_(stays.size()) {
    for (std::size_t i = 0; i < set.transfers.size(); ++i) program_.add_row({0, 0});  // no byte more or less
    auto const demands = demands_of(model, trial.steps);
    for (std::size_t k = 0; k < stays.size(); ++k) {
      auto const& ran = trial.run.steps[k];
      bytes_.push_back(static_cast<double>(trial.steps[k].bytes.value()) / kMegabyte);
      took_.push_back((ran.end - ran.start) / Seconds(kMillisecond));
      auto const flowed = took_[k] - demands[k].latency() / Seconds(kMillisecond);
      paces_.push_back(bytes_[k] > 0 ? flowed / bytes_[k] : 0);
    }
    for (std::size_t k = 0; k < stays.size(); ++k) {
      for (auto const id : trial.steps[k].turns) {
        auto const row = program_.add_row({.at_least = took_[index(id)]});
        before_[k].push_back(row);
        behind_[index(id)].push_back(row);
      }
      ends_.push_back(program_.add_row({.at_least = took_[k]}));
      behind_[k].push_back(ends_[k]);
    }
  }

  // None where there is no solver. `basis`: of the last such program, if any, and then of this one.
  std::optional<std::vector<Stay>> run(Basis& basis) {
    for (auto const row : ends_) program_.entries.push_back({row, 1});
    program_.end_column(1);  // when all have ended
    for (std::size_t k = 0; k < stays_.size(); ++k) {
      for (auto const row : before_[k]) program_.entries.push_back({row, 1});
      for (auto const row : behind_[k]) program_.entries.push_back({row, -1});
      program_.end_column(0);  // its start
      add_bytes(k, 1);
      add_bytes(k, -1);
    }
    auto const answer = solve(program_, basis);
    if (!answer) return std::nullopt;
    basis = answer->basis;
    auto stays = stays_;
    for (std::size_t k = 0; k < stays.size(); ++k)
      stays[k].bytes = (bytes_[k] + answer->x[3 * k + 2] - answer->x[3 * k + 3]) * kMegabyte;
    return stays;
  }

 private:
  void add_bytes(std::size_t k, double sign) {
    constexpr double kRatherNot = 1e-3;  // of the time that it takes: what gains nothing stays as it is
    program_.entries.push_back({static_cast<int>(stays_[k].transfer), sign});
    for (auto const row : behind_[k]) program_.entries.push_back({row, -sign * paces_[k]});
    program_.end_column(kRatherNot * paces_[k], other_ * bytes_[k]);
  }

  std::vector<Stay> const& stays_;
  double other_;
  LinearProgram program_;
  std::vector<double> bytes_;
  std::vector<double> took_;
  std::vector<double> paces_;  // milliseconds for a megabyte, once it flows
  std::vector<int> ends_;      // rows
  std::vector<std::vector<int>> before_;
  std::vector<std::vector<int>> behind_;
};

struct Timed {
  std::vector<Stay> stays;
  Trial trial;
};
bool is_earlier(Timed const& one, Timed const& other) { return one.trial.run.makespan < other.trial.run.makespan; }

// What timetables come to, the best first.
std::vector<Timed> best_on_time(std::vector<Timetable> const& timetables, TransferSet const& set, Model const& model) {
  std::vector<Timed> all;
  for (auto const& timetable : timetables) {
    auto stays = stays_of(timetable, set, model);
    if (!all_move(stays, set)) continue;  // what is too small for a slice
    auto trial = on_time(stays, set, model);
    all.push_back({std::move(stays), std::move(trial)});
  }
  std::stable_sort(all.begin(), all.end(), is_earlier);
  all.resize(std::min(all.size(), kMostResized));
  return all;
}

// The best of what pieces of several sizes come to, from the best so far on: by half as much after sizes that were no
// better, since at other sizes other rates hold.
Timed in_other_sizes(Timed best, TransferSet const& set, Model const& model, int times) {
  auto other = kOtherSize;
  Basis basis;
  for (int time = 0; time < times && other >= kHardlyOther; ++time) {
    auto resized = Resizing(best.stays, best.trial, set, model, other).run(basis);
    if (!resized) break;
    drop_small(*resized, set, model);
    if (!all_move(*resized, set)) break;
    Timed next{std::move(*resized), {}};
    next.trial = on_time(next.stays, set, model);
    if (is_earlier(next, best))
      best = std::move(next);
    else
      other /= 2;
  }
  return best;
}

std::vector<Shares> shares_of(std::vector<Stay> const& stays, TransferSet const& set, Model const& model) {
  std::vector<Shares> shares;
  for (auto const& transfer : set.transfers) shares.emplace_back(transfer.options.size(), 0.0);
  for (auto const& stay : stays) shares[stay.transfer][stay.option] += stay.bytes;
  for (std::size_t i = 0; i < shares.size(); ++i) drop_small_pieces(model, set.transfers[i], shares[i]);
  return shares;
}

// How long the pieces of every option are in the mean; of those not in use what they could be.
std::vector<Shares> mean_pieces(std::vector<Stay> const& stays, TransferSet const& set) {
  constexpr double kCouldBe = 0.25;
  std::vector<Shares> bytes;
  std::vector<Shares> counts;
  for (auto const& transfer : set.transfers) {
    bytes.emplace_back(transfer.options.size(), 0.0);
    counts.emplace_back(transfer.options.size(), 0.0);
  }
  for (auto const& stay : stays) {
    bytes[stay.transfer][stay.option] += stay.bytes;
    counts[stay.transfer][stay.option] += 1;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (std::size_t o = 0; o < bytes[i].size(); ++o)
      bytes[i][o] = counts[i][o] > 0 ? bytes[i][o] / counts[i][o]
                                     : kCouldBe * static_cast<double>(set.transfers[i].bytes.value());
  return bytes;
}

// Before anything is known: who has several ways mostly uses two.
std::vector<Shares> likely_pieces(TransferSet const& set) {
  std::vector<Shares> pieces;
  for (auto const& transfer : set.transfers) {
    auto const ways = transfer.options.size();
    pieces.emplace_back(ways, static_cast<double>(transfer.bytes.value()) / (ways > 1 ? 2 : 1));
  }
  return pieces;
}

}  // namespace

OnTime tried_on_time(TransferSet const& set, Model const& model, Seconds known) {
  OnTime result;
  ConfigurationProgram program(set, model);
  program.set_pieces(likely_pieces(set));
  for (int time = 0; time < kTimes; ++time) {
    auto timed = best_on_time(program.solve(), set, model);
    if (timed.empty()) break;
    for (auto& one : timed) {
      if (auto shares = shares_of(one.stays, set, model);
          std::find(result.shares.begin(), result.shares.end(), shares) == result.shares.end())
        result.shares.push_back(std::move(shares));
      if (one.trial.run.makespan <= known * kWorthResizing)
        one = in_other_sizes(std::move(one), set, model, kResizings);
    }
    auto best = std::move(*std::min_element(timed.begin(), timed.end(), is_earlier));
    bool const is_hopeless = best.trial.run.makespan > known * kHopeless;
    if (!is_hopeless) best = in_other_sizes(std::move(best), set, model, kMoreResizings);
    if (!result.trial || best.trial.run.makespan < result.trial->run.makespan) result.trial = std::move(best.trial);
    if (is_hopeless) break;
    program.set_pieces(mean_pieces(best.stays, set));
  }
  return result;
}

}  // namespace lanewise
