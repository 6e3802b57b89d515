#include "core/planner/sets/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <utility>

#include "core/planner/bounds/lower_bound.hpp"
#include "core/planner/schedules/scheduled_trials.hpp"
#include "core/planner/sets/draft.hpp"
#include "core/planner/sets/start_order.hpp"

namespace lanewise {
namespace {

// A plan that is harder to run must be that much faster than the simpler one.
constexpr double kClearlyBetter = 0.01;
// So close to what no plan beats, nothing more is tried.
constexpr double kCloseEnough = 0.02;
// Of larger sets only the first drafts are tried, and turns in the order listed: every evaluation takes long.
constexpr std::size_t kMaxSearched = 300;
// Of sets up to this size the bytes are moved between pieces until these end together.
constexpr std::size_t kMaxEvened = 8;
constexpr int kEvenings = 8;
// Of so many divisions, the best, smaller pieces are tried.
constexpr std::size_t kMaxCut = 3;
// Drafts tried by moving bytes here and there: that many, or fewer where a draft has many steps.
constexpr std::size_t kMaxClimbs = 300;
// So far from what no plan beats, they are tried again, from where the first ended.
constexpr double kFarOff = 0.15;
constexpr unsigned kMaxClimbers = 3;
constexpr std::size_t kClimbedSteps = 8000;

// So far from what no plan beats, a schedule is made, of sets up to that size. One of a small set is made in
// milliseconds, of 56 transfers in seconds.
constexpr double kOffOfSmall = 0.04;
constexpr double kOffOfLarge = 0.1;
constexpr std::size_t kSmall = 16;
constexpr std::size_t kMaxTimed = 64;
// Of larger sets host memory beside NVLink is weighed as for everybody, and not at all where there is little time.
constexpr std::size_t kSome = 16;
// By so much it may be better than the best without: up to 13 % on the bundled machines.
constexpr double kGainOnTime = 0.15;

// How full things may get before steps take turns, and who goes first.
struct AdmissionPolicy {
  double max_utilisation = 0;
  Priority priority = Priority::StepOrder;
};
// Of those tried on the bundled machines these stayed: everything at once; hardly any sharing; one each way of what
// shares both directions; two or three at a time; only engines hold steps back.
constexpr double kBothWays = 1.45;
constexpr double kFew = 2.2;
constexpr double kEngines = 100;
constexpr AdmissionPolicy kAdmissionPolicies[] = {{0, Priority::StepOrder},
                                                  {kUncontendedUtilisation, Priority::StepOrder},
                                                  {kBothWays, Priority::StepOrder},
                                                  {kUncontendedUtilisation, Priority::BottleneckFirst},
                                                  {kBothWays, Priority::BottleneckFirst},
                                                  {kFew, Priority::BottleneckFirst},
                                                  {kEngines, Priority::BottleneckFirst}};
// Of the balanced shares of large sets the last two did best.
constexpr AdmissionPolicy kQuickAdmissionPolicies[] = {
    {0, Priority::StepOrder}, {kBothWays, Priority::StepOrder}, {kFew, Priority::BottleneckFirst}};

// Ways that the candidates list but that the request does not mean.
bool is_not_asked_for(TransferOption const& option, TransferOption const& usual, OpenTransfer const& transfer,
                      Machine const& machine) {
  if (option.way.mechanism == Mechanism::BarCopy) return true;  // a core at 0.44 GB/s is no second way
  // Over the links and engines of the staged way, of which it lets one rest.
  if (option.way.mechanism == Mechanism::SharedHost && usual.way.mechanism != Mechanism::SharedHost) return true;
  if (option.way.mechanism != Mechanism::PcieP2p) return false;
  if (transfer.op == Op::Read && option.way.drive == Drive::Push) return true;
  constexpr std::size_t kMaxPeers = 8;  // of a GPU over PCIe: beyond, a mapping more could be one too many
  return usual.way.mechanism != Mechanism::PcieP2p && machine.all(PciKind::Gpu).size() > kMaxPeers + 1;
}

bool goes_through_host(TransferOption const& option) {
  return option.way.mechanism == Mechanism::HostStaged || option.way.mechanism == Mechanism::SharedHost;
}
bool goes_by_nvlink(TransferOption const& option) { return option.way.mechanism == Mechanism::Nvlink; }

// Takes options out of a set; each transfer keeps its usual one.
template <class Closed>
TransferSet without(TransferSet set, Closed const& closed) {
  for (std::size_t i = 0; i < set.transfers.size(); ++i) {
    auto& options = set.transfers[i].options;
    auto const usual = options[set.default_option[i]];
    std::erase_if(options, [&](TransferOption const& option) {
      return option.candidate != usual.candidate && closed(option, usual, set.transfers[i]);
    });
    auto const at = std::find_if(options.begin(), options.end(),
                                 [&](TransferOption const& option) { return option.candidate == usual.candidate; });
    set.default_option[i] = static_cast<std::size_t>(at - options.begin());
  }
  return set;
}

std::vector<Shares> usual_shares(TransferSet const& set) {
  std::vector<Shares> shares;
  for (std::size_t i = 0; i < set.transfers.size(); ++i) {
    shares.emplace_back(set.transfers[i].options.size(), 0.0);
    shares[i][set.default_option[i]] = static_cast<double>(set.transfers[i].bytes.value());
  }
  return shares;
}

std::vector<Shares> undivided(std::vector<Shares> shares) {
  for (auto& of_transfer : shares) {
    auto const largest = std::max_element(of_transfer.begin(), of_transfer.end()) - of_transfer.begin();
    auto const bytes = std::accumulate(of_transfer.begin(), of_transfer.end(), 0.0);
    std::fill(of_transfer.begin(), of_transfer.end(), 0.0);
    of_transfer[static_cast<std::size_t>(largest)] = bytes;
  }
  return shares;
}

// Moves bytes from the piece of a transfer that ended last to the one that ended first. False: nothing is split.
bool equalise_finish_times(TransferSet const& set, Model const& model, Draft& draft, Evaluation const& evaluation) {
  bool moves = false;
  std::vector<std::vector<std::size_t>> steps_of(set.transfers.size());
  for (std::size_t s = 0; s < evaluation.steps.size(); ++s) steps_of[evaluation.origins[s].transfer].push_back(s);
  for (std::size_t i = 0; i < steps_of.size(); ++i) {
    if (steps_of[i].size() < 2) continue;
    auto const ends_before = [&](std::size_t a, std::size_t b) {
      return evaluation.run.steps[a].end < evaluation.run.steps[b].end;
    };
    auto const [first, last] = std::minmax_element(steps_of[i].begin(), steps_of[i].end(), ends_before);
    auto const from = evaluation.origins[*last].option;
    auto const to = evaluation.origins[*first].option;
    if (from == to) continue;
    auto const rate = [&](std::size_t step) {
      auto const& times = evaluation.run.steps[step];
      return (evaluation.steps[step].bytes / (times.end - times.start)).value();
    };
    auto const fast = rate(*first);
    auto const slow = rate(*last);
    auto const late = evaluation.run.steps[*last].end - evaluation.run.steps[*first].end;
    auto& shares = draft.shares[i];
    auto const moved = std::min(late.value() * fast * slow / (fast + slow), shares[from]);
    shares[from] -= moved;
    shares[to] += moved;
    drop_small_pieces(model, set.transfers[i], shares);
    moves = true;
  }
  return moves;
}

struct Found {
  Draft draft;
  Evaluation evaluation;
  double value = std::numeric_limits<double>::infinity();  // seconds, or the worst slowdown
};

// The search among the ways of one set.
class Search {
 public:
  Search(TransferSet const& set, Model const& model, Aim aim) : set_(set), model_(model), aim_(aim) {
    if (aim_.objective != Objective::Slowdown) return;
    for (std::size_t i = 0; i < set_.transfers.size(); ++i) {
      auto const& transfer = set_.transfers[i];
      alone_.push_back(model_.cost(transfer.options[set_.default_option[i]].demand, transfer.bytes)->time);
    }
  }

  // What is to be small: seconds, or the worst slowdown.
  [[nodiscard]] double value_of(Evaluation const& evaluation) const {
    if (aim_.objective != Objective::Slowdown) return evaluation.run.makespan.value();
    std::vector<Seconds> ready(set_.transfers.size(), Seconds(0));
    std::vector<Seconds> end(set_.transfers.size(), Seconds(0));
    for (std::size_t s = 0; s < evaluation.steps.size(); ++s) {
      auto const i = evaluation.origins[s].transfer;
      end[i] = std::max(end[i], evaluation.run.steps[s].end);
      for (auto const before : evaluation.steps[s].after)
        ready[i] = std::max(ready[i], evaluation.run.steps[index(before)].end);
    }
    double worst = 0;
    for (std::size_t i = 0; i < end.size(); ++i) worst = std::max(worst, (end[i] - ready[i]) / alone_[i]);
    return worst;
  }

  // The best draft that is clearly better than the usual ways all at once, which take `usual`. `wanted`: no other will
  // do, so that what cannot be expected to come to that is not tried.
  Found run(double usual, double wanted = std::numeric_limits<double>::infinity()) {
    if (aim_.effort == Effort::Quick) {
      search_quickly(usual);
      return std::move(best_);
    }
    search(usual);
    auto const timed = best_.value <= wanted * (1 + kGainOnTime) ? with_timetable() : Found{};
    simplify(usual);
    if (timed.value * (1 + kClearlyBetter) <= best_.value) best_ = timed;
    return std::move(best_);
  }

 private:
  void search_quickly(double usual) {
    best_.value = usual;
    auto const heuristic = balanced_shares();
    if (count() > kSmall)
      return static_cast<void>(try_shares(heuristic, 1, std::span(kQuickAdmissionPolicies).last(2)));
    for (auto const& shares : {usual_shares(set_), heuristic, undivided(heuristic)})
      try_shares(shares, 1, kQuickAdmissionPolicies);
  }

  void search(double usual) {
    best_.value = usual;
    auto const optimal = optimal_shares();
    auto const as_usual = usual_shares(set_);
    best_.draft.shares = as_usual;
    std::vector<std::pair<double, std::vector<Shares>>> offered;
    auto const offer_whole = [&](std::vector<Shares> shares) {
      for (auto const& [value, other] : offered)
        if (other == shares) return;
      auto const value = try_shares(shares, 1);
      offered.emplace_back(value, std::move(shares));
    };
    offer_whole(as_usual);
    auto const heuristic = balanced_shares();
    offer_whole(undivided(heuristic));
    offer_whole(heuristic);
    if (aim_.objective == Objective::Slowdown || close_enough()) return;
    for (auto const& shares : optimal) {
      offer_whole(shares);
      offer_whole(undivided(shares));
    }
    if (count() > kMaxSearched || close_enough()) return;
    std::stable_sort(offered.begin(), offered.end(), [](auto const& a, auto const& b) { return a.first < b.first; });
    offered.resize(std::min(offered.size(), kMaxCut));
    for (std::size_t const pieces_per_share : {2, 4})
      for (auto const& [value, shares] : offered) try_shares(shares, pieces_per_share);
    climb_often();
  }

  // What keeps to a schedule, where there is room for a better plan. The best draft becomes one with a schedule's
  // shares, where such a one is better.
  Found with_timetable() {
    auto const off = count() <= kSmall ? kOffOfSmall : kOffOfLarge;
    if (count() > kMaxTimed || least_ <= 0 || best_.value <= least_ * (1 + off)) return {};
    if (std::find(set_.is_indivisible.begin(), set_.is_indivisible.end(), true) != set_.is_indivisible.end()) return {};
    Found timed;
    auto before = std::exchange(best_, {});
    auto [evaluation, all_shares] = evaluate_schedules(set_, model_, Seconds(before.value));
    for (auto const& shares : all_shares)
      for (std::size_t const pieces_per_share : {1, 2, 4}) try_shares(shares, pieces_per_share);
    if (!all_shares.empty() && best_.value > least_ * (1 + kFarOff)) climb_often();
    if (best_.value * (1 + kClearlyBetter) > before.value) best_ = std::move(before);
    if (evaluation) timed = {{}, std::move(*evaluation), value_of(*evaluation)};
    return timed;
  }

  // Transfers that are divided for next to nothing go one way: their usual one, or that of most of their bytes.
  void simplify(double usual) {
    if (best_.evaluation.steps.empty() || count() > kMaxSearched) return;
    constexpr double kNothing = 0.003;
    auto const most = std::min(best_.value * (1 + kNothing), usual / (1 + kClearlyBetter));
    for (std::size_t i = 0; i < count(); ++i) {
      auto const& shares = best_.draft.shares[i];
      if (std::count_if(shares.begin(), shares.end(), [](double bytes) { return bytes > 0; }) < 2) continue;
      auto const largest = static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
      for (auto const only : {set_.default_option[i], largest}) {
        Found next;
        next.draft = best_.draft;
        std::fill(next.draft.shares[i].begin(), next.draft.shares[i].end(), 0.0);
        next.draft.shares[i][only] = static_cast<double>(set_.transfers[i].bytes.value());
        next.evaluation = evaluate(set_, model_, next.draft);
        next.value = value_of(next.evaluation);
        if (next.value > most) continue;
        best_ = std::move(next);
        break;
      }
    }
  }

  [[nodiscard]] std::size_t count() const { return set_.transfers.size(); }
  [[nodiscard]] bool close_enough() const { return best_.value <= least_ * (1 + kCloseEnough); }

  // Tries shares with everything at once and in turns; the best that they come to.
  double try_shares(std::vector<Shares> const& shares, std::size_t pieces_per_share,
                    std::span<AdmissionPolicy const> policies = kAdmissionPolicies) {
    auto best_of_all = std::numeric_limits<double>::infinity();
    for (auto const& policy : policies) {
      if (policy.max_utilisation > 0 && count() == 1) continue;
      if (close_enough()) return best_of_all;
      if (count() > kMaxSearched && policy.priority == Priority::BottleneckFirst) continue;
      Draft draft{shares, policy.max_utilisation, policy.priority, pieces_per_share,
                  aim_.objective == Objective::Slowdown};
      auto its_best = std::numeric_limits<double>::infinity();
      int const rounds = count() <= kMaxEvened ? kEvenings : 1;
      bool moves = true;
      for (int round = 1; round <= rounds && moves; ++round) {
        auto evaluation = evaluate(set_, model_, draft);
        auto const its_value = value_of(evaluation);
        constexpr double kStillMoving = 1e-3;
        if (its_value > its_best * (1 - kStillMoving)) break;
        its_best = its_value;
        best_of_all = std::min(best_of_all, its_value);
        auto next = draft;
        moves = round < rounds && equalise_finish_times(set_, model_, next, evaluation);
        if (its_value * (1 + kClearlyBetter) <= best_.value)
          best_ = {std::move(draft), std::move(evaluation), its_value};
        draft = std::move(next);
      }
    }
    return best_of_all;
  }

  // From the best draft on: bytes of one transfer, rather one that ends late, go over to another of its ways, or
  // everything takes other turns, and what helps stays. Where several end last together moving one of them does not end
  // the set earlier, hence other late ends count too. The same numbers are drawn every time.
  void local_search(unsigned seed) {
    auto at = best_;
    if (at.evaluation.steps.empty()) {
      at.evaluation = evaluate(set_, model_, at.draft);
      at.value = value_of(at.evaluation);
    }
    auto best = at;
    constexpr double kLateEnds = 4;  // the higher, the more only the latest count
    auto const height = [](Found const& found) {
      auto const makespan = found.evaluation.run.makespan.value();
      double sum = 0;
      double bytes = 0;
      for (std::size_t k = 0; k < found.evaluation.steps.size(); ++k) {
        auto const of_step = static_cast<double>(found.evaluation.steps[k].bytes.value());
        sum += of_step * std::pow(found.evaluation.run.steps[k].end.value() / makespan, kLateEnds);
        bytes += of_step;
      }
      return found.value * (1 + sum / bytes);
    };
    std::minstd_rand random(seed);
    auto const tries = std::min(kMaxClimbs, kClimbedSteps / at.evaluation.steps.size());
    for (std::size_t n = 0; n < tries && best.value > least_ * (1 + kCloseEnough); ++n) {
      Found next;
      next.draft = at.draft;
      if (!change(next.draft, at.evaluation, random)) continue;
      next.evaluation = evaluate(set_, model_, next.draft);
      next.value = value_of(next.evaluation);
      if (next.value < best.value) best = next;
      if (height(next) < height(at)) at = std::move(next);
    }
    if (best.value * (1 + kClearlyBetter) <= best_.value) best_ = std::move(best);
  }
  void climb_often() {
    local_search(1);
    for (unsigned seed = 2; seed <= kMaxClimbers && least_ > 0 && best_.value > least_ * (1 + kFarOff); ++seed)
      local_search(seed);
  }
  bool change(Draft& draft, Evaluation const& from, std::minstd_rand& random) const {
    auto const origin = from.origins[late_step(from.run, random)];
    auto const options = set_.transfers[origin.transfer].options.size();
    constexpr int kOtherTurns = 16;  // one in so many changes
    if (options < 2 || random() % kOtherTurns == 0) {
      auto const& policy = kAdmissionPolicies[random() % std::size(kAdmissionPolicies)];
      draft.max_utilisation = policy.max_utilisation;
      draft.priority = policy.priority;
      draft.pieces_per_share = std::size_t{1} << (random() % 3);
      return true;
    }
    auto to = random() % (options - 1);
    if (to >= origin.option) ++to;
    auto& shares = draft.shares[origin.transfer];
    auto const before = shares;
    auto const moved = shares[origin.option] / static_cast<double>(1 << (random() % 4));
    shares[origin.option] -= moved;
    shares[to] += moved;
    drop_small_pieces(model_, set_.transfers[origin.transfer], shares);
    return shares != before;
  }
  // Half of the time one that ends near the end of all, else any.
  [[nodiscard]] static std::size_t late_step(Estimate const& run, std::minstd_rand& random) {
    auto const& steps = run.steps;
    auto at = random() % steps.size();
    if (random() % 2 == 0) return at;
    constexpr double kNearTheEnd = 0.97;
    while (steps[at].end < kNearTheEnd * run.makespan) at = (at + 1) % steps.size();
    return at;
  }

  // Those of equal depth run at about the same time.
  [[nodiscard]] std::vector<Shares> balanced_shares() const {
    auto shares = usual_shares(set_);
    auto const deepest = *std::max_element(set_.depth.begin(), set_.depth.end());
    for (std::size_t depth = 0; depth <= deepest; ++depth) {
      std::vector<SetMember> together;
      std::vector<std::size_t> members;
      for (std::size_t i = 0; i < count(); ++i) {
        if (set_.depth[i] != depth || set_.transfers[i].bytes == Bytes(0)) continue;
        members.push_back(i);
        together.push_back({&set_.transfers[i], set_.default_option[i]});
      }
      if (together.empty()) continue;
      auto found =
          (aim_.effort == Effort::Quick ? balance_load_quickly(together, model_) : balance_load(together, model_))
              .shares;
      for (std::size_t k = 0; k < members.size(); ++k) {
        drop_small_pieces(model_, set_.transfers[members[k]], found[k]);
        shares[members[k]] = std::move(found[k]);
      }
    }
    return shares;
  }

  // As the linear program of the bound divides them, where everything may run at once: so that it is through earliest,
  // and with room. What no plan beats is known then.
  std::vector<std::vector<Shares>> optimal_shares() {
    if (aim_.objective == Objective::Slowdown || *std::max_element(set_.depth.begin(), set_.depth.end()) > 0) return {};
    auto division = best_division(set_.transfers, model_);
    if (!division) return {};
    least_ = division->makespan.value();
    std::vector<std::vector<Shares>> all;
    for (auto* bytes : {&division->bytes, &division->least_congested}) {
      if (bytes->empty()) continue;
      for (std::size_t i = 0; i < count(); ++i) drop_small_pieces(model_, set_.transfers[i], (*bytes)[i]);
      all.push_back(std::move(*bytes));
    }
    return all;
  }

  TransferSet const& set_;
  Model const& model_;
  Aim aim_;
  std::vector<Seconds> alone_;  // of each transfer, where slowdowns are asked for
  double least_ = 0;            // seconds that no plan beats
  Found best_;
};

// How ways through host memory beside NVLink are weighed.
struct ThroughHost {
  Model model;
  double better = 0;   // as a fraction of the time with them
  Seconds earlier{0};  // and that much besides

  // What it may take with them, where it takes so long without.
  [[nodiscard]] Seconds at_most(double without) const { return Seconds((without - earlier.value()) / (1 + better)); }
};
ThroughHost through_host(TransferSet const& set, Model const& model, Objective objective) {
  if (objective != Objective::Makespan) return {model, kBetterThroughHost, {}};
  if (set.transfers.size() == 1) return {model, kSurelyBetterThroughHost, kSurelyEarlierThroughHost};
  bool all_by_nvlink = set.transfers.size() <= kSome && model.assumed().is_nominal();
  for (std::size_t i = 0; i < set.transfers.size(); ++i)
    all_by_nvlink = all_by_nvlink && goes_by_nvlink(set.transfers[i].options[set.default_option[i]]);
  if (!all_by_nvlink) return {model, kBetterThroughHost, {}};
  auto const& slow = parameter_ranges()[static_cast<std::size_t>(Parameter::LinkUtilisation)];
  return {model.with_assumptions({slow.parameter, slow.low}), kSurelyBetterThroughHost, kSurelyEarlierThroughHost};
}

// Whether the ways through host memory beside NVLink would be worth it if all were as full as they could be.
bool may_gain_through_host(TransferSet const& apart, TransferSet const& open, ThroughHost const& how, double value) {
  bool any = false;
  std::vector<SetMember> all;
  for (std::size_t i = 0; i < open.transfers.size(); ++i) {
    any = any || open.transfers[i].options.size() > apart.transfers[i].options.size();
    if (open.depth[i] == 0 && open.transfers[i].bytes > Bytes(0))
      all.push_back({&open.transfers[i], open.default_option[i]});
  }
  if (!any) return false;
  if (all.size() < open.transfers.size()) return true;
  return can_balance_within(how.at_most(value), all, how.model);
}

// Whether a transfer goes to, from or through host memory by itself: then nothing else should go there beside NVLink.
// On 2 x H200 rings beside a copy from the target GPU to the host reach 34 GB/s instead of 53; a set with such,
// predicted 13 % faster, was 4 to 24 % slower.
bool uses_host_itself(TransferSet const& set) {
  auto const is_memory = [](Place const& place) { return std::holds_alternative<NumaId>(place); };
  for (std::size_t i = 0; i < set.transfers.size(); ++i) {
    auto const& transfer = set.transfers[i];
    if (is_memory(transfer.from) || is_memory(transfer.to) ||
        goes_through_host(transfer.options[set.default_option[i]]))
      return true;
  }
  return false;
}

}  // namespace

Plan find_best_plan(Plan const& each, Model const& model, Aim aim) {
  auto const open_under = [&](Model const& with) {
    return without(transfer_set(each, with), [&](auto const& option, auto const& usual, auto const& transfer) {
      return is_not_asked_for(option, usual, transfer, with.machine());
    });
  };
  auto open = open_under(model);
  auto const apart = without(open, [](auto const& option, auto const& usual, auto const&) {
    return goes_by_nvlink(usual) && goes_through_host(option);
  });
  Evaluation usual;
  usual.steps = each.steps;
  for (std::size_t i = 0; i < each.steps.size(); ++i) usual.origins.push_back({i, apart.default_option[i]});
  usual.run = estimate(model, usual.steps);
  Search search(apart, model, aim);
  auto const by_itself = search.value_of(usual);
  auto best = search.run(by_itself);
  auto const how = through_host(open, model, aim.objective);
  if (!how.model.assumed().is_nominal()) open = open_under(how.model);
  bool const has_time = aim.effort == Effort::Full || apart.transfers.size() <= kSome;
  if (has_time && !uses_host_itself(apart) &&
      (aim.objective == Objective::Slowdown || may_gain_through_host(apart, open, how, best.value))) {
    auto const wanted = how.at_most(best.value).value();
    auto with_host = Search(open, how.model, aim).run(by_itself, wanted);
    if (with_host.value <= wanted) return plan_of(open, each, std::move(with_host.evaluation));
  }
  return best.evaluation.steps.empty() ? each : plan_of(apart, each, std::move(best.evaluation));
}

}  // namespace lanewise
