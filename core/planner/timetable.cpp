#include "core/planner/timetable.hpp"

#include <algorithm>
#include <map>

#include "core/planner/configurations.hpp"
#include "core/planner/demands.hpp"

namespace lanewise {
namespace {

// How often a timetable is made once more, with what its pieces really take to start.
constexpr int kTimes = 3;

// So far behind what is known already, it is not made again: the second is some percent shorter than the first.
constexpr double kHopeless = 1.05;

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

bool get_in_the_way(Demand const& one, Demand const& other) {
  auto const passes = [&](Use const& use) {
    return std::any_of(other.uses.begin(), other.uses.end(),
                       [&](Use const& its) { return its.resource == use.resource; });
  };
  return share_an_engine(one, other) || std::any_of(one.uses.begin(), one.uses.end(), passes);
}

// Every step waits for those that end last of all that end before its slice and get in its way, and for the one before
// it on its own way: pieces of a transfer on one way have the rate of one.
Trial on_time(std::vector<Stay> const& stays, TransferSet const& set, Model const& model) {
  auto trial = laid_out(set, model, portions_of(stays, set));
  auto const demands = demands_of(model, trial.steps);
  std::map<std::pair<std::size_t, std::size_t>, StepId> last;  // of a transfer and option
  for (std::size_t k = 0; k < stays.size(); ++k) {
    std::size_t latest = 0;  // 1 + the slice with which they end
    auto& turns = trial.steps[k].turns;
    for (std::size_t other = 0; other < stays.size(); ++other) {
      auto const ends = stays[other].last + 1;
      if (ends > stays[k].first || ends < latest || !get_in_the_way(demands[k], demands[other])) continue;
      if (ends > latest) turns.clear();
      latest = ends;
      turns.push_back(StepId(other));
    }
    auto const [before, is_first] = last.try_emplace({stays[k].transfer, stays[k].option}, StepId(k));
    if (is_first) continue;
    if (std::find(turns.begin(), turns.end(), before->second) == turns.end()) turns.push_back(before->second);
    before->second = StepId(k);
  }
  trial.run = estimate(model, trial.steps, demands);
  return trial;
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

OnTime tried_on_time(TransferSet const& set, Model const& model, Seconds known, bool beside) {
  OnTime result;
  ConfigurationProgram program(set, model);
  program.set_pieces(likely_pieces(set), beside);
  for (int time = 0; time < kTimes; ++time) {
    std::optional<Trial> latest;
    std::vector<Stay> its_stays;
    for (auto const& timetable : program.solve()) {
      auto stays = stays_of(timetable, set, model);
      if (!all_move(stays, set)) continue;  // what is too small for a slice
      if (auto shares = shares_of(stays, set, model);
          std::find(result.shares.begin(), result.shares.end(), shares) == result.shares.end())
        result.shares.push_back(std::move(shares));
      auto trial = on_time(stays, set, model);
      if (latest && trial.run.makespan >= latest->run.makespan) continue;
      latest = std::move(trial);
      its_stays = std::move(stays);
    }
    if (!latest) break;
    bool const is_hopeless = latest->run.makespan > known * kHopeless;
    if (!result.trial || latest->run.makespan < result.trial->run.makespan) result.trial = std::move(latest);
    if (is_hopeless) break;
    program.set_pieces(mean_pieces(its_stays, set), beside);
  }
  return result;
}

}  // namespace lanewise
