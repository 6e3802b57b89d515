#include "core/planner/sets/draft.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/estimate/demands.hpp"
#include "core/plan/dag.hpp"
#include "core/planner/sets/start_order.hpp"

namespace lanewise {
namespace {

// Pieces are not cut below what takes ten times as long to flow as to start.
constexpr double kFlowsOverStart = 10;

// Among equals, every source begins with another target: the next place first, then the one behind it.
std::vector<std::size_t> turns_of(std::vector<OpenTransfer> const& transfers) {
  std::map<Place, std::size_t> rank;
  for (auto const& transfer : transfers) {
    rank.emplace(transfer.from, 0);
    rank.emplace(transfer.to, 0);
  }
  std::size_t next = 0;
  for (auto& [place, number] : rank) number = next++;
  auto const count = rank.size();
  std::vector<std::size_t> turn;
  for (auto const& transfer : transfers) {
    auto const from = rank.at(transfer.from);
    turn.push_back((rank.at(transfer.to) + count - from) % count * count + from);
  }
  return turn;
}

bool is_whole(OpenTransfer const& transfer, Way const& way) {
  return way.by_driver || way.pageable || way.access.each > Bytes(0) || transfer.op == Op::Atomic ||
         migrates(transfer.op) || transfer.bytes == Bytes(0);
}

class DraftLayout {
 public:
  DraftLayout(TransferSet const& set, Model const& model, Draft const& draft)
      : set_(set), model_(model), draft_(draft) {}

  Evaluation lay() {
    for (std::size_t i = 0; i < set_.transfers.size(); ++i) cut(i);
    order();
    auto evaluation = steps_of_portions(set_, model_, pieces_);
    add_order(evaluation);
    // Pieces of one transfer on one way go one behind the other: it has the engines and the rate of one flow.
    std::vector<std::size_t> first_way;  // of a transfer, among those of all
    std::size_t ways = 0;
    for (auto const& transfer : set_.transfers)
      first_way.push_back(std::exchange(ways, ways + transfer.options.size()));
    std::vector<std::optional<StepId>> last(ways);  // piece of a way
    for (std::size_t k = 0; k < evaluation.steps.size(); ++k) {
      auto& step = evaluation.steps[k];
      auto const before = std::exchange(last[first_way[pieces_[k].transfer] + pieces_[k].option], StepId(k));
      if (before) step.order_only = {*before};
    }
    auto const demands = demands_of(model_, evaluation.steps);
    evaluation.run = draft_.max_utilisation > 0 ? schedule_with_admission(model_, evaluation.steps, demands,
                                                                          draft_.max_utilisation, draft_.priority)
                                                : estimate(model_, evaluation.steps, demands);
    return evaluation;
  }

 private:
  // Every piece waits for all of what its transfer waits for.
  void add_order(Evaluation& evaluation) const {
    if (std::all_of(set_.depth.begin(), set_.depth.end(), [](std::size_t depth) { return depth == 0; })) return;
    std::vector<std::vector<StepId>> steps_of(set_.transfers.size());
    for (std::size_t k = 0; k < pieces_.size(); ++k) steps_of[pieces_[k].transfer].push_back(StepId(k));
    for (std::size_t k = 0; k < pieces_.size(); ++k)
      for (auto const before : set_.transfers[pieces_[k].transfer].after) {
        auto& after = evaluation.steps[k].after;
        after.insert(after.end(), steps_of[before].begin(), steps_of[before].end());
      }
  }

  // The pieces of one transfer, one behind the other.
  void cut(std::size_t i) {
    auto const& transfer = set_.transfers[i];
    auto const& shares = draft_.shares[i];
    auto const first = pieces_.size();
    Bytes done{0};
    for (std::size_t o = 0; o < shares.size(); ++o) {
      if (transfer.bytes > Bytes(0) ? shares[o] <= 0 : o != set_.default_option[i]) continue;
      auto const count = set_.is_indivisible[i] ? 1 : cuts_of(transfer.options[o], shares[o]);
      auto const each = round_to_alignment(shares[o] / static_cast<double>(count));
      for (std::size_t k = 0; k < count; ++k) {
        pieces_.push_back({i, o, done, std::min(each, transfer.bytes - done)});
        done += pieces_.back().bytes;
      }
    }
    pieces_.back().bytes += transfer.bytes - done;  // the rest of rounding
    if (pieces_.size() - first > 1)
      pieces_.erase(std::remove_if(pieces_.begin() + static_cast<std::ptrdiff_t>(first), pieces_.end(),
                                   [](Portion const& piece) { return piece.bytes == Bytes(0); }),
                    pieces_.end());
  }
  [[nodiscard]] std::size_t cuts_of(TransferOption const& option, double bytes) const {
    auto const worth = bytes / option.rate.value() / (kFlowsOverStart * option.demand.latency().value());
    return std::max<std::size_t>(
        1, static_cast<std::size_t>(std::min(worth, static_cast<double>(draft_.pieces_per_share))));
  }

  // The order in which they should ask for engines and links.
  void order() {
    std::stable_sort(pieces_.begin(), pieces_.end(), [&](Portion const& a, Portion const& b) {
      return set_.depth[a.transfer] < set_.depth[b.transfer];
    });
    std::vector<Portion> result;
    for (std::size_t begin = 0; begin < pieces_.size();) {
      auto end = begin;
      std::vector<ReadyPiece> together;
      for (; end < pieces_.size() && set_.depth[pieces_[end].transfer] == set_.depth[pieces_[begin].transfer]; ++end) {
        auto const& option = set_.transfers[pieces_[end].transfer].options[pieces_[end].option];
        together.push_back({&option.demand, option.rate, static_cast<double>(pieces_[end].bytes.value()),
                            set_.tie_break[pieces_[end].transfer]});
      }
      auto order = start_order(together, model_);
      if (draft_.shortest_first)
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
          return alone(pieces_[begin + a].transfer) < alone(pieces_[begin + b].transfer);
        });
      for (auto const k : order) result.push_back(pieces_[begin + k]);
      begin = end;
    }
    pieces_ = std::move(result);
  }
  [[nodiscard]] Seconds alone(std::size_t i) const {
    auto const& transfer = set_.transfers[i];
    return model_.cost(transfer.options[set_.default_option[i]].demand, transfer.bytes)->time;
  }

  TransferSet const& set_;
  Model const& model_;
  Draft const& draft_;
  std::vector<Portion> pieces_;
};

}  // namespace

TransferSet transfer_set(Plan const& plan, Model const& model) {
  TransferSet set;
  set.transfers = open_transfers(plan, model);
  for (std::size_t i = 0; i < set.transfers.size(); ++i) {
    auto& transfer = set.transfers[i];
    auto const found =
        std::find_if(transfer.options.begin(), transfer.options.end(),
                     [&](TransferOption const& option) { return option.candidate == plan.decisions[i].chosen; });
    set.default_option.push_back(static_cast<std::size_t>(found - transfer.options.begin()));
    set.is_indivisible.push_back(is_whole(transfer, found->way));
    if (!set.is_indivisible.back()) continue;
    transfer.options = {*found};
    set.default_option.back() = 0;
  }
  set.depth = levels(dag_of_after(set.transfers));
  set.tie_break = turns_of(set.transfers);
  return set;
}

Bytes round_to_alignment(double bytes) {
  constexpr double kAlignment = 4096;
  return Bytes(static_cast<std::int64_t>(std::round(bytes / kAlignment) * kAlignment));
}

Evaluation steps_of_portions(TransferSet const& set, Model const& model, std::vector<Portion> const& portions) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> only(set.transfers.size(), kNone);  // way of a transfer
  std::vector<bool> is_divided(set.transfers.size(), false);
  for (auto const& portion : portions) {
    auto& way = only[portion.transfer];
    is_divided[portion.transfer] = is_divided[portion.transfer] || (way != kNone && way != portion.option);
    way = portion.option;
  }
  Evaluation evaluation;
  evaluation.steps.reserve(portions.size());
  evaluation.origins.reserve(portions.size());
  for (auto const& portion : portions) {
    auto const& transfer = set.transfers[portion.transfer];
    auto const& option = transfer.options[portion.option];
    evaluation.origins.push_back({portion.transfer, portion.option});
    auto& step = evaluation.steps.emplace_back(
        Step{transfer.id, transfer.from, transfer.to, portion.bytes, transfer.op, option.way, {}});
    step.offset = portion.offset;
    if (portion.bytes < transfer.bytes)
      step.way.chunk = chunk_of_piece(model, transfer, option, portion.bytes, is_divided[portion.transfer]);
  }
  return evaluation;
}

Evaluation evaluate(TransferSet const& set, Model const& model, Draft const& draft) {
  return DraftLayout(set, model, draft).lay();
}

Plan plan_of(TransferSet const& set, Plan const& each, Evaluation evaluation) {
  Plan plan{each.machine, each.fingerprint, std::move(evaluation.steps), each.decisions};
  std::vector<std::vector<Piece>> pieces(set.transfers.size());
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    auto const& origin = evaluation.origins[s];
    pieces[origin.transfer].push_back({StepId(s), set.transfers[origin.transfer].options[origin.option].candidate});
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    auto& decision = plan.decisions[i];
    auto const largest = std::max_element(pieces[i].begin(), pieces[i].end(), [&](Piece const& a, Piece const& b) {
      return plan.steps[index(a.step)].bytes < plan.steps[index(b.step)].bytes;
    });
    decision.step = largest->step;
    decision.chosen = largest->candidate;
    pieces[i].erase(largest);
    decision.others = std::move(pieces[i]);
  }
  return plan;
}

}  // namespace lanewise
