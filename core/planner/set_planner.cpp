#include "core/planner/set_planner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "core/io/word.hpp"
#include "core/planner/balance.hpp"
#include "core/planner/demands.hpp"
#include "core/planner/estimate.hpp"
#include "core/planner/lower_bound.hpp"
#include "core/planner/options.hpp"
#include "core/planner/rounds.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 3> kObjectiveNames{"each", "makespan", "slowdown"};
// A plan that is harder to run must be that much better than the simpler one.
constexpr double kClearlyBetter = 0.01;
// Where part of a transfer between GPUs goes through host memory beside NVLink, better by more than the ring's
// own 90 % range (a sixth): an exchange of 128 MiB predicted 12 % faster with 10 % of it staged was 17 % slower on 2 x
// H200, where four streams at once got 142 of the host's 222 GB/s.
constexpr double kBetterThroughHost = 0.17;
// Pieces begin at multiples of this, so that copies stay aligned.
constexpr double kAlignment = 4096;
// Of sets up to this size the pieces are moved until they end together; larger ones would take too long to plan.
constexpr std::size_t kMostPolished = 8;
constexpr int kPolishRounds = 8;
// And of sets beyond this only one division is tried.
constexpr std::size_t kMostTried = 24;

// A way of doing the whole set: what goes over which option, and who starts first.
struct Draft {
  std::vector<Shares> shares;  // of each transfer
  double fill = 0;             // how full things may get before pieces take turns; 0: none do
};
// Everything at once; hardly any sharing; two or three at a time.
constexpr double kFills[] = {0, 1.05, 2.1};

// One piece of a draft.
struct Part {
  std::size_t transfer = 0;
  std::size_t option = 0;
  Bytes offset{0};
  Bytes bytes{0};
};

class Drafting {
 public:
  Drafting(Model const& model, Plan const& base, Objective objective)
      : model_(model), base_(base), objective_(objective), open_(open_transfers(base, model)) {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      close_what_is_not_asked_for(i);
      usual_.push_back(usual_of(i));
    }
    find_depths();
    find_turns();
  }

  // The best plan found; the base where nothing is clearly better.
  Plan best() {
    best_ = base_;
    best_value_ = value(base_, estimate(model_, base_.steps));
    Draft const as_usual = usual_draft();
    if (open_.size() > 1) offer(as_usual);
    auto optimal = optimal_shares();
    bool const large = open_.size() > kMostTried;  // one good division is enough
    for (auto const& shares : {large && optimal ? std::nullopt : std::optional(balanced_shares()), optimal}) {
      if (!shares || *shares == as_usual.shares) continue;
      Draft const split{*shares};
      Draft const whole = undivided(split);
      if (whole.shares != as_usual.shares && whole.shares != split.shares && open_.size() > 1) offer(whole);
      offer(split);
    }
    return std::move(best_);
  }

 private:
  // How much better a plan must be than the one it replaces.
  static double margin(Plan const& plan) {
    auto const beside_nvlink = [&](Decision const& decision) {
      return !decision.others.empty() && decision.candidates[decision.chosen].way.mechanism == Mechanism::Nvlink &&
             std::any_of(decision.others.begin(), decision.others.end(), [&](Piece const& piece) {
               auto const mechanism = decision.candidates[piece.candidate].way.mechanism;
               return mechanism == Mechanism::HostStaged || mechanism == Mechanism::SharedHost;
             });
    };
    return std::any_of(plan.decisions.begin(), plan.decisions.end(), beside_nvlink) ? kBetterThroughHost
                                                                                    : kClearlyBetter;
  }

  // Tries a draft with everything at once and in turns.
  void offer(Draft draft) {
    for (auto const fill : kFills) {
      if (fill > 0 && open_.size() == 1) continue;
      draft.fill = fill;
      polish(draft);
    }
  }

  // Tries a draft, and of a small set moves bytes between pieces as long as that helps.
  void polish(Draft draft) {
    auto its_best = std::numeric_limits<double>::infinity();
    auto const rounds = open_.size() <= kMostPolished ? kPolishRounds : 1;
    bool moves = true;
    for (int round = 0; round < rounds && moves; ++round) {
      auto plan = plan_of(draft);
      auto const run = estimate(model_, plan.steps);
      auto const its_value = value(plan, run);
      constexpr double kStillMoving = 1e-3;
      if (its_value > its_best * (1 - kStillMoving)) return;
      its_best = its_value;
      moves = even_out(draft, plan, run);
      if (its_value >= best_value_ * (1 - margin(plan))) continue;
      best_value_ = its_value;
      best_ = std::move(plan);
    }
  }

  // Ways that the candidates list but that the request does not mean.
  void close_what_is_not_asked_for(std::size_t i) {
    auto& transfer = open_[i];
    auto const& decision = base_.decisions[i];
    auto const& chosen = decision.candidates[decision.chosen].way;
    bool const as_it_is = chosen.by_driver || chosen.pageable || chosen.access.each > Bytes(0) ||
                          transfer.op == Op::Atomic || migrates(transfer.op) || transfer.bytes == Bytes(0);
    constexpr std::size_t kMostPeers = 8;  // of a GPU over PCIe: beyond, a mapping more could be one too many
    bool const few_gpus = model_.machine().all(PciKind::Gpu).size() <= kMostPeers + 1;
    std::erase_if(transfer.options, [&](Option const& option) {
      if (option.candidate == decision.chosen) return false;
      if (as_it_is) return true;
      if (option.way.mechanism == Mechanism::BarCopy) return true;  // a core at 0.44 GB/s is no second way
      bool const peer = option.way.mechanism == Mechanism::PcieP2p;
      if (peer && transfer.op == Op::Read && option.way.drive == Drive::Push) return true;
      return peer && (!few_gpus || chosen.mechanism == Mechanism::PcieP2p);  // push beside pull is the same way twice
    });
  }

  [[nodiscard]] std::size_t usual_of(std::size_t i) const {
    auto const& options = open_[i].options;
    auto const found = std::find_if(options.begin(), options.end(), [&](Option const& option) {
      return option.candidate == base_.decisions[i].chosen;
    });
    return static_cast<std::size_t>(found - options.begin());
  }

  void find_depths() {
    depth_.assign(open_.size(), 0);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < open_.size(); ++i)
        for (auto const before : open_[i].after)
          if (depth_[i] <= depth_[before]) {
            depth_[i] = depth_[before] + 1;
            changed = true;
          }
    }
  }

  // Among equals, every source begins with another target: the next place first, then the one behind it.
  void find_turns() {
    std::map<Place, std::size_t> rank;
    for (auto const& transfer : open_) {
      rank.emplace(transfer.from, 0);
      rank.emplace(transfer.to, 0);
    }
    std::size_t next = 0;
    for (auto& [place, number] : rank) number = next++;
    auto const count = rank.size();
    for (auto const& transfer : open_) {
      auto const from = rank.at(transfer.from);
      turn_.push_back((rank.at(transfer.to) + count - from) % count * count + from);
    }
  }

  [[nodiscard]] Draft usual_draft() const {
    Draft draft;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      auto& shares = draft.shares.emplace_back(open_[i].options.size(), 0.0);
      shares[usual_[i]] = static_cast<double>(open_[i].bytes.value());
    }
    return draft;
  }

  // Those of equal depth run at about the same time.
  [[nodiscard]] std::vector<Shares> balanced_shares() const {
    auto shares = usual_draft().shares;
    auto const deepest = *std::max_element(depth_.begin(), depth_.end());
    for (std::size_t depth = 0; depth <= deepest; ++depth) {
      std::vector<Together> set;
      std::vector<std::size_t> members;
      for (std::size_t i = 0; i < open_.size(); ++i) {
        if (depth_[i] != depth || open_[i].bytes == Bytes(0)) continue;
        members.push_back(i);
        set.push_back({&open_[i], usual_[i]});
      }
      if (set.empty()) continue;
      auto found = balanced(set, model_);
      for (std::size_t k = 0; k < members.size(); ++k) {
        drop_small_pieces(model_, open_[members[k]], found[k]);
        shares[members[k]] = std::move(found[k]);
      }
    }
    return shares;
  }

  // As the linear program of the bound divides them, where everything runs at once.
  [[nodiscard]] std::optional<std::vector<Shares>> optimal_shares() const {
    if (*std::max_element(depth_.begin(), depth_.end()) > 0) return std::nullopt;
    auto shares = best_shares(open_, model_);
    for (std::size_t i = 0; shares && i < open_.size(); ++i) drop_small_pieces(model_, open_[i], (*shares)[i]);
    return shares;
  }

  [[nodiscard]] Draft undivided(Draft draft) const {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      auto& shares = draft.shares[i];
      auto const largest = std::max_element(shares.begin(), shares.end()) - shares.begin();
      std::fill(shares.begin(), shares.end(), 0.0);
      shares[static_cast<std::size_t>(largest)] = static_cast<double>(open_[i].bytes.value());
    }
    return draft;
  }

  [[nodiscard]] std::vector<Part> parts_of(Draft const& draft) const {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      auto const& shares = draft.shares[i];
      auto const first = parts.size();
      Bytes done{0};
      for (std::size_t o = 0; o < shares.size(); ++o) {
        if (shares[o] <= 0 && open_[i].bytes > Bytes(0)) continue;
        if (open_[i].bytes == Bytes(0) && o != usual_[i]) continue;
        Bytes const bytes(static_cast<std::int64_t>(std::round(shares[o] / kAlignment) * kAlignment));
        parts.push_back({i, o, done, std::min(bytes, open_[i].bytes - done)});
        done += parts.back().bytes;
      }
      parts.back().bytes += open_[i].bytes - done;  // the rest of rounding
      if (parts.size() - first > 1)
        parts.erase(std::remove_if(parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end(),
                                   [](Part const& part) { return part.bytes == Bytes(0); }),
                    parts.end());
    }
    return parts;
  }

  // Parts in the order in which they should ask for their engines.
  [[nodiscard]] std::vector<Part> ordered(std::vector<Part> parts) const {
    std::stable_sort(parts.begin(), parts.end(),
                     [&](Part const& a, Part const& b) { return depth_[a.transfer] < depth_[b.transfer]; });
    std::vector<Part> result;
    for (std::size_t begin = 0; begin < parts.size();) {
      auto end = begin;
      std::vector<Ordered> pieces;
      for (; end < parts.size() && depth_[parts[end].transfer] == depth_[parts[begin].transfer]; ++end) {
        auto const& option = open_[parts[end].transfer].options[parts[end].option];
        pieces.push_back(
            {&option.demand, option.rate, static_cast<double>(parts[end].bytes.value()), turn_[parts[end].transfer]});
      }
      auto order = lanewise::in_rounds(pieces, model_);
      if (objective_ == Objective::Slowdown)  // the short would wait for the long
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
          return alone(parts[begin + a].transfer) < alone(parts[begin + b].transfer);
        });
      for (auto const k : order) result.push_back(parts[begin + k]);
      begin = end;
    }
    return result;
  }

  [[nodiscard]] Plan plan_of(Draft const& draft) const {
    auto const parts = ordered(parts_of(draft));
    Plan plan{base_.machine, base_.fingerprint, {}, base_.decisions};
    std::vector<std::vector<Piece>> pieces(open_.size());
    for (auto const& part : parts) {
      auto const& transfer = open_[part.transfer];
      auto const& option = transfer.options[part.option];
      pieces[part.transfer].push_back({StepId(plan.steps.size()), option.candidate});
      Step step{transfer.id, transfer.from, transfer.to, part.bytes, transfer.op, option.way, {}};
      step.offset = part.offset;
      if (part.bytes < transfer.bytes) step.way.chunk = chunk_of_piece(model_, transfer, option, part.bytes);
      plan.steps.push_back(std::move(step));
    }
    for (std::size_t k = 0; k < parts.size(); ++k)
      for (auto const before : open_[parts[k].transfer].after)
        for (auto const& piece : pieces[before]) plan.steps[k].after.push_back(piece.step);
    if (draft.fill > 0) take_turns(model_, plan.steps, demands_of(model_, plan.steps), draft.fill);
    for (std::size_t i = 0; i < open_.size(); ++i) {
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

  [[nodiscard]] Seconds alone(std::size_t i) const {
    return model_.cost(open_[i].options[usual_[i]].demand, open_[i].bytes)->time;
  }

  // What is to be small: seconds, or the worst slowdown.
  [[nodiscard]] double value(Plan const& plan, Estimate const& run) const {
    if (objective_ != Objective::Slowdown) return run.makespan.value();
    double worst = 0;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      auto const& decision = plan.decisions[i];
      auto end = run.steps[index(decision.step)].end;
      for (auto const& piece : decision.others) end = std::max(end, run.steps[index(piece.step)].end);
      Seconds ready{0};
      for (auto const before : plan.steps[index(decision.step)].after)
        ready = std::max(ready, run.steps[index(before)].end);
      worst = std::max(worst, (end - ready) / alone(i));
    }
    return worst;
  }

  // Moves bytes from the piece of a transfer that ended last to the one that ended first. False: nothing is split.
  bool even_out(Draft& draft, Plan const& plan, Estimate const& run) const {
    bool moves = false;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      auto const& decision = plan.decisions[i];
      if (decision.others.empty()) continue;
      auto pieces = decision.others;
      pieces.push_back({decision.step, decision.chosen});
      auto const ends_before = [&](Piece const& a, Piece const& b) {
        return run.steps[index(a.step)].end < run.steps[index(b.step)].end;
      };
      auto const [first, last] = std::minmax_element(pieces.begin(), pieces.end(), ends_before);
      auto const& early = run.steps[index(first->step)];
      auto const& late = run.steps[index(last->step)];
      auto const rate = [&](Piece const& piece, Estimate::Times const& times) {
        return (plan.steps[index(piece.step)].bytes / (times.end - times.start)).value();
      };
      auto const fast = rate(*first, early);
      auto const slow = rate(*last, late);
      auto const bytes = (late.end - early.end).value() * fast * slow / (fast + slow);
      auto& shares = draft.shares[i];
      auto const from = option_of_candidate(i, last->candidate);
      auto const to = option_of_candidate(i, first->candidate);
      auto const moved = std::min(bytes, shares[from]);
      shares[from] -= moved;
      shares[to] += moved;
      drop_small_pieces(model_, open_[i], shares);
      moves = true;
    }
    return moves;
  }
  [[nodiscard]] std::size_t option_of_candidate(std::size_t i, std::size_t candidate) const {
    auto const& options = open_[i].options;
    for (std::size_t o = 0; o < options.size(); ++o)
      if (options[o].candidate == candidate) return o;
    return usual_[i];
  }

  Model const& model_;
  Plan const& base_;
  Objective objective_;
  Plan best_;
  double best_value_ = 0;
  std::vector<OpenTransfer> open_;
  std::vector<std::size_t> usual_;
  std::vector<std::size_t> depth_;
  std::vector<std::size_t> turn_;
};

bool all_costs_known(Plan const& plan) {
  return std::all_of(plan.decisions.begin(), plan.decisions.end(),
                     [](Decision const& decision) { return decision.candidates[decision.chosen].time.has_value(); });
}

}  // namespace

std::string_view to_string(Objective objective) { return kObjectiveNames[static_cast<std::size_t>(objective)]; }
std::vector<std::string> objective_names() { return {kObjectiveNames.begin(), kObjectiveNames.end()}; }
Parsed<Objective> parse_objective(std::string_view text) {
  return parse_word<Objective>(text, kObjectiveNames, "an objective");
}

Plan SetPlanner::plan(std::vector<Request> const& requests, Objective objective) const {
  auto base = planner_.plan(requests);
  if (objective == Objective::Each || requests.empty() || !all_costs_known(base)) return base;
  auto plan = Drafting(model_, base, objective).best();
  plan.verify(model_.machine());
  return plan;
}

}  // namespace lanewise
