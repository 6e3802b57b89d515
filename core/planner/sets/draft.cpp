#include "core/planner/sets/draft.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/estimate/demands.hpp"
#include "core/estimate/schedule.hpp"
#include "core/planner/search_limits.hpp"
#include "core/planner/sets/start_order.hpp"

namespace lanewise {
namespace {

// `chunk_of(portion, is_divided)` gives the chunk of each.
template <class ChunkOf>
Evaluation steps_in_order(TransferSet const& set, std::vector<Portion> const& portions, ChunkOf const& chunk_of) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> last_option(set.transfers.size(), kNone);
  std::vector<bool> is_divided(set.transfers.size(), false);
  for (auto const& portion : portions) {
    auto& option = last_option[portion.transfer];
    is_divided[portion.transfer] = is_divided[portion.transfer] || (option != kNone && option != portion.option);
    option = portion.option;
  }
  Evaluation evaluation;
  evaluation.steps.reserve(portions.size());
  evaluation.origins.reserve(portions.size());
  for (auto const& portion : portions) {
    evaluation.origins.push_back({portion.transfer, portion.option});
    evaluation.steps.push_back(step_of(set, portion, chunk_of(portion, is_divided[portion.transfer])));
  }
  return evaluation;
}

class DraftDivider {
 public:
  DraftDivider(TransferSet const& set, Model const& model, Draft const& draft, PieceDemands& known)
      : set_(set), model_(model), draft_(draft), known_(known) {}

  DraftSteps steps() {
    for (std::size_t i = 0; i < set_.transfers.size(); ++i) divide(i);
    sort_pieces();
    StepDemands alone(pieces_.size());
    auto evaluation = steps_in_order(set_, pieces_, [&](Portion const& portion, bool is_divided) {
      auto const piece = known_.of(portion, is_divided);
      alone.add(piece.demand);
      return piece.chunk;
    });
    add_dependencies(evaluation);
    serialise_options(evaluation);
    auto demands = demands_together(model_, evaluation.steps, std::move(alone));
    return {std::move(evaluation), std::move(demands)};
  }

 private:
  // Every piece waits for all pieces of the transfers that its own transfer waits for.
  void add_dependencies(Evaluation& evaluation) const {
    if (std::all_of(set_.depth.begin(), set_.depth.end(), [](std::size_t depth) { return depth == 0; })) return;
    std::vector<std::vector<StepId>> steps_of(set_.transfers.size());
    for (std::size_t k = 0; k < pieces_.size(); ++k) steps_of[pieces_[k].transfer].push_back(StepId(k));
    for (std::size_t k = 0; k < pieces_.size(); ++k)
      for (auto const before : set_.transfers[pieces_[k].transfer].after) {
        auto& after = evaluation.steps[k].after;
        after.insert(after.end(), steps_of[before].begin(), steps_of[before].end());
      }
  }

  // Pieces of one transfer on one option run one after another: together they have the engines and the rate of one
  // flow.
  void serialise_options(Evaluation& evaluation) const {
    auto const first_option = first_options(set_);
    std::vector<std::optional<StepId>> last(first_option.back());  // piece on each option
    for (std::size_t k = 0; k < evaluation.steps.size(); ++k) {
      auto& step = evaluation.steps[k];
      auto const before = std::exchange(last[first_option[pieces_[k].transfer] + pieces_[k].option], StepId(k));
      if (before) step.order_only = {*before};
    }
  }

  // Appends the pieces of one transfer.
  void divide(std::size_t i) {
    auto const& transfer = set_.transfers[i];
    auto const& shares = draft_.shares[i];
    auto const first = pieces_.size();
    Bytes done{0};
    for (std::size_t o = 0; o < shares.size(); ++o) {
      if (transfer.bytes > Bytes(0) ? shares[o] <= 0 : o != set_.default_option[i]) continue;
      auto const count = set_.is_indivisible[i] ? 1 : piece_count(transfer.options[o], shares[o]);
      auto const size = round_to_alignment(shares[o] / static_cast<double>(count));
      for (std::size_t k = 0; k < count; ++k) {
        pieces_.push_back({i, o, done, std::min(size, transfer.bytes - done)});
        done += pieces_.back().bytes;
      }
    }
    pieces_.back().bytes += transfer.bytes - done;  // what rounding left over
    if (pieces_.size() - first > 1)
      pieces_.erase(std::remove_if(pieces_.begin() + static_cast<std::ptrdiff_t>(first), pieces_.end(),
                                   [](Portion const& piece) { return piece.bytes == Bytes(0); }),
                    pieces_.end());
  }
  [[nodiscard]] std::size_t piece_count(TransferOption const& option, double bytes) const {
    auto const most =
        bytes / option.rate.value() / (kSearchLimits.min_flow_to_latency_ratio * option.demand.latency().value());
    return std::max<std::size_t>(
        1, static_cast<std::size_t>(std::min(most, static_cast<double>(draft_.pieces_per_share))));
  }

  // The order in which pieces ask for engines and links: by depth, and those of equal depth in their start order.
  void sort_pieces() {
    std::stable_sort(pieces_.begin(), pieces_.end(), [&](Portion const& a, Portion const& b) {
      return set_.depth[a.transfer] < set_.depth[b.transfer];
    });
    std::vector<Portion> result;
    for (std::size_t begin = 0; begin < pieces_.size();) {
      auto end = begin;
      std::vector<ReadyPiece> ready;
      for (; end < pieces_.size() && set_.depth[pieces_[end].transfer] == set_.depth[pieces_[begin].transfer]; ++end) {
        auto const& option = set_.transfers[pieces_[end].transfer].options[pieces_[end].option];
        ready.push_back({&option.demand, option.rate, static_cast<double>(pieces_[end].bytes.value()),
                         tie_break_of(pieces_[end].transfer)});
      }
      auto order = start_order(ready, model_);
      if (draft_.shortest_first)
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
          return time_alone(pieces_[begin + a].transfer) < time_alone(pieces_[begin + b].transfer);
        });
      for (auto const k : order) result.push_back(pieces_[begin + k]);
      begin = end;
    }
    pieces_ = std::move(result);
  }
  [[nodiscard]] std::size_t tie_break_of(std::size_t i) const {
    return draft_.tie_break.empty() ? set_.tie_break[i] : draft_.tie_break[i];
  }
  [[nodiscard]] Seconds time_alone(std::size_t i) const {
    auto const& transfer = set_.transfers[i];
    return model_.cost(transfer.options[set_.default_option[i]].demand, transfer.bytes)->time;
  }

  TransferSet const& set_;
  Model const& model_;
  Draft const& draft_;
  PieceDemands& known_;
  std::vector<Portion> pieces_;
};

Evaluation evaluated(Evaluation evaluation, StepDemands const& demands, Model const& model, Draft const& draft) {
  if (draft.max_utilisation == 0) {
    evaluation.run = estimate(model, evaluation.steps, demands);
    return evaluation;
  }
  auto scheduled = schedule_with_admission(model, evaluation.steps, demands, draft.max_utilisation, draft.priority);
  evaluation.run = std::move(scheduled.run);
  evaluation.order = std::move(scheduled.order);
  return evaluation;
}

}  // namespace

Bytes round_to_alignment(double bytes) {
  constexpr double kAlignment = 4096;
  return Bytes(static_cast<std::int64_t>(std::round(bytes / kAlignment) * kAlignment));
}

Evaluation steps_of_portions(TransferSet const& set, Model const& model, std::vector<Portion> const& portions) {
  return steps_in_order(set, portions, [&](Portion const& portion, bool is_divided) {
    return chunk_of(set, model, portion, is_divided);
  });
}

DraftSteps DraftEvaluator::steps_of(Draft const& draft) { return DraftDivider(set_, model_, draft, pieces_).steps(); }

Evaluation DraftEvaluator::evaluate(DraftSteps const& steps, Draft const& draft) const {
  return evaluated(steps.evaluation, steps.demands, model_, draft);
}

Evaluation DraftEvaluator::evaluate(Draft const& draft) {
  auto steps = steps_of(draft);
  return evaluated(std::move(steps.evaluation), steps.demands, model_, draft);
}

Plan plan_of(TransferSet const& set, Plan const& base, Evaluation evaluation) {
  add_order(evaluation.steps, evaluation.order);
  Plan plan{base.machine, base.fingerprint, std::move(evaluation.steps), base.decisions};
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
