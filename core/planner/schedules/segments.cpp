#include "core/planner/schedules/segments.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "core/estimate/demands.hpp"
#include "core/planner/sets/rounds.hpp"

namespace lanewise {
namespace {

// One for each stay.
std::vector<Portion> portions_of(std::vector<Segment> const& stays, TransferSet const& set) {
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

}  // namespace

void drop_small(std::vector<Segment>& stays, TransferSet const& set, Model const& model) {
  std::vector<Segment*> largest(set.transfers.size(), nullptr);
  for (auto& stay : stays)
    if (auto*& most = largest[stay.transfer]; most == nullptr || stay.bytes > most->bytes) most = &stay;
  for (auto& stay : stays) {
    auto const& transfer = set.transfers[stay.transfer];
    auto* const most = largest[stay.transfer];
    if (&stay == most || is_worth_its_start(model, transfer, transfer.options[stay.option], stay.bytes)) continue;
    most->bytes += stay.bytes;
    stay.bytes = 0;
  }
  std::erase_if(stays, [](Segment const& stay) { return aligned(stay.bytes) <= Bytes(0); });
}

std::vector<Segment> segments_of(Schedule const& schedule, TransferSet const& set, Model const& model) {
  std::vector<Segment> stays;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> latest;  // of a transfer and option
  for (std::size_t slice = 0; slice < schedule.slices.size(); ++slice)
    for (auto const& moving : schedule.slices[slice].moving) {
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

bool all_move(std::vector<Segment> const& stays, TransferSet const& set) {
  std::vector<bool> moves(set.transfers.size(), false);
  for (auto const& stay : stays) moves[stay.transfer] = true;
  return std::find(moves.begin(), moves.end(), false) == moves.end();
}

Evaluation on_time(std::vector<Segment> const& stays, TransferSet const& set, Model const& model) {
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
      trial.steps[k].order_only.push_back(StepId(other));
      std::transform(is_through[k].begin(), is_through[k].end(), is_through[other].begin(), is_through[k].begin(),
                     std::logical_or<>());
      is_through[k][other] = true;
    }
  }
  trial.run = estimate(model, trial.steps, demands);
  return trial;
}

}  // namespace lanewise
