#include "core/planner/choice/candidate_plans.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "core/estimate/demands.hpp"
#include "core/io/work_progress.hpp"
#include "core/model/resources/figures.hpp"
#include "core/planner/choice/folded_plan.hpp"
#include "core/planner/choice/plan_of_schedule.hpp"
#include "core/planner/choice/planned_as_set.hpp"
#include "core/planner/collective_limits.hpp"
#include "core/planner/collectives/algorithms/algorithms.hpp"
#include "core/planner/collectives/algorithms/rings.hpp"
#include "core/planner/collectives/cut_bounds.hpp"
#include "core/planner/collectives/folding/symmetric_algorithms.hpp"
#include "core/planner/collectives/folding/unit_grid.hpp"
#include "core/planner/collectives/trees/packing_program.hpp"
#include "core/planner/collectives/trees/tree_packing.hpp"
#include "core/planner/peer_mappings.hpp"
#include "core/planner/search_limits.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/estimate/estimate.hpp"

namespace lanewise {
namespace {

constexpr std::string_view kPlanning = "planning the collective";
constexpr Movers kMovers[] = {Movers::Fastest, Movers::Kernels};
constexpr double kReplaced = 1 - kCollectiveLimits.min_improvement;
constexpr WayPreference kPreferences[] = {WayPreference::FastestAlone, WayPreference::Direct};

// What copy engines add (compared_time).
Seconds time_between_kernels(Model const& model, std::vector<Step> const& steps) {
  Seconds before{0};
  Seconds behind{0};
  for (auto const& step : steps) {
    auto const gpu = gpu_at(model.machine(), step.from);
    if (!gpu || step.from == step.to || by_kernel(step.op)) continue;
    auto const* part = model.machine().part_of(*gpu);
    if (step.after.empty()) before = std::max(before, figures::engine_change(part));
    if (gpu_at(model.machine(), step.to)) behind = std::max(behind, figures::chunk_gap(part));
  }
  return (before + behind) * model.assumed()(Parameter::EngineStart);
}

bool uses_host_memory(Plan const& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(), [](Step const& step) { return step.way.staging; });
}

// The pairs that the trees send between by peer access over PCIe.
std::vector<PeerPair> peers_of(Packing const& packing, Sites const& sites, Machine const& machine) {
  std::vector<PeerPair> pairs;
  for (auto const& tree : packing.trees)
    for (auto const number : tree.legs) {
      auto const& leg = packing.legs[number];
      if (leg.way.mechanism != Mechanism::PcieP2p) continue;
      if (auto const pair = gpus_between(machine, sites.places[leg.from], sites.places[leg.to])) pairs.push_back(*pair);
    }
  return pairs;
}

// The pairs that the steps send between by peer access over PCIe.
std::vector<PeerPair> peers_of(Plan const& plan, Machine const& machine) {
  std::vector<PeerPair> pairs;
  for (auto const& step : plan.steps) {
    if (step.way.mechanism != Mechanism::PcieP2p) continue;
    if (auto const pair = gpus_between(machine, step.from, step.to)) pairs.push_back(*pair);
  }
  return pairs;
}

// A chain whose number of pieces is open, with each power of two of them; any other collective as it is.
std::vector<Collective> with_pieces(Collective const& collective) {
  if (collective.op != CollectiveOp::Chain || collective.pieces > 0) return {collective};
  std::vector<Collective> all;
  for (std::size_t pieces = 1; pieces <= kCollectiveLimits.max_pipeline_chunks; pieces *= 2) {
    all.push_back(collective);
    all.back().pieces = pieces;
  }
  return all;
}

// Calls enter(ways) for those whose plan may be another than that of the ones before.
template <class Enter>
void for_each_worthwhile(std::span<WayCache> ways, Enter enter) {
  for (std::size_t i = 0; i < ways.size(); ++i) {
    // Every second one prefers direct ways; without one that was passed over, its plan would be the same.
    if (i % std::size(kPreferences) == 1 && !ways[i - 1].passed_over_direct()) continue;
    enter(ways[i]);
  }
}

}  // namespace

CandidatePlans::CandidatePlans(Model const& model, Collective const& collective, Keep keep)
    : model_(model),
      collective_(collective),
      keep_(keep),
      layout_(layout_of(model, collective)),
      places_(collective.among) {
  for (auto const& near : layout_.near_memories) places_.emplace_back(near.memory);
  for (auto const movers : kMovers)
    if (movers == Movers::Fastest || collective.among.size() <= kCollectiveLimits.all_algorithms_max_participants ||
        has_root(collective.op))
      for (auto const preference : kPreferences) ways_.emplace_back(model, collective, places_, movers, preference);
}

void CandidatePlans::add_all(std::function<bool(Algorithm)> const& is_wanted) {
  std::vector<Algorithm> wanted;
  for (auto const algorithm : {Algorithm::Direct, Algorithm::Ring, Algorithm::Tree, Algorithm::HalvingDoubling,
                               Algorithm::Hierarchical, Algorithm::ThroughHost})
    if (is_wanted(algorithm)) wanted.push_back(algorithm);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    report_progress({kPlanning, "algorithms", i, wanted.size()});
    for (auto const& collective : with_pieces(collective_))
      for (auto const& schedule : schedules_of(collective, wanted[i], layout_)) add(collective, wanted[i], schedule);
  }
}

bool CandidatePlans::add_folded() {
  auto const grid = UnitGrid::of(model_, collective_, layout_);
  if (!grid) return false;
  // Their steps are few, so all movers are tried.
  std::vector<WayCache> ways;
  for (auto const movers : kMovers)
    for (auto const preference : kPreferences) ways.emplace_back(model_, collective_, places_, movers, preference);
  auto const algorithm = collective_.op == CollectiveOp::AllToAll ? Algorithm::Direct : Algorithm::Hierarchical;
  auto const schedules = symmetric_schedules(collective_, *grid);
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    report_progress({kPlanning, "schedules", i, schedules.size()});
    auto const& schedule = schedules[i];
    auto const units = refined_for(*grid, schedule);
    auto contest = contest_below(kNoLimit);
    for_each_worthwhile(ways, [&](WayCache& of) {
      auto plan = folded_plan(model_, collective_, algorithm, schedule, units, of);
      // A step stands for all pairs of a class, of which some would have to go without peer access.
      if (!exceed_peer_limit(model_.machine(), peers_of(plan, model_.machine()))) enter(contest, std::move(plan));
    });
    keep_best(std::move(contest));
  }
  return !candidates_.empty();
}

bool CandidatePlans::is_worth_packing() const {
  return collective_.bytes >= kCollectiveLimits.packing_min_bytes && can_be_packed(collective_, participants()) &&
         is_far_from_cut_bounds();
}

bool CandidatePlans::is_worth_a_set() const {
  return collective_.bytes >= kCollectiveLimits.set_min_bytes && can_be_planned_as_set(collective_, model_.machine()) &&
         is_far_from_cut_bounds();
}

bool CandidatePlans::is_far_from_cut_bounds() const {
  if (candidates_.empty()) return false;
  Seconds bound{0};
  for (auto const& cut : cut_bounds(collective_, model_)) bound = std::max(bound, cut.time);
  return best_time() > kCollectiveLimits.min_ratio_to_cut_bounds * bound;
}

void CandidatePlans::add_planned_as_set(Effort effort) {
  if (!can_be_planned_as_set(collective_, model_.machine())) return;
  auto const schedule = schedules_of(collective_, Algorithm::Direct, layout_).front();
  auto const direct = plan_of_schedule(model_, collective_, places_, Algorithm::TransferSet, schedule, ways_.front());
  auto plan = planned_as_set(model_, direct, effort);
  // It is harder to run, so it must be clearly faster; more so where host memory carries both directions beside NVLink.
  // Of 256 MiB among 2 x H100, an all_gather predicted 7 % faster was 1 % slower; scatter and gather were 7 % faster,
  // as predicted.
  bool const is_one_way = collective_.op == CollectiveOp::Scatter || collective_.op == CollectiveOp::Gather;
  auto const gain = !is_one_way && uses_host_memory(plan) && are_joined_by_nvlink() ? kSearchLimits.min_host_path_gain
                                                                                    : kSearchLimits.min_improvement;
  auto contest = contest_below(best_time() * (1 / (1 + gain)));
  enter(contest, std::move(plan));
  keep_best(std::move(contest));
}

// Trees through host memory must be clearly faster if NVLink joins all participants.
void CandidatePlans::add_packed_trees() {
  bool const joined = are_joined_by_nvlink();
  if (joined) add_trees_over(participants(), best_time());
  auto const time_limit = joined ? best_time() * (1 / (1 + kSearchLimits.min_host_path_gain)) : best_time();
  if (places_.size() > collective_.among.size())
    add_trees_over({places_, collective_.among.size()},
                   collective_.algorithm == Algorithm::Auto ? time_limit : kNoLimit);
}

bool CandidatePlans::are_joined_by_nvlink() const {
  return nvlink_islands(model_.machine(), collective_.among).size() < 2;
}

std::vector<CandidatePlans::Candidate> CandidatePlans::take() && {
  std::stable_sort(candidates_.begin(), candidates_.end(),
                   [](auto const& a, auto const& b) { return a.time < b.time; });
  return std::move(candidates_);
}

Seconds CandidatePlans::best_time() const {
  auto best = kNoLimit;
  for (auto const& candidate : candidates_) best = std::min(best, candidate.time);
  return best;
}

// Only then may kernels go through host memory. Over PCIe, kernels that read and write it beside others are slow: on
// 2 x H200 one GPU's kernels moved 71 GB/s both ways where its copy engines move 97, and an all_gather took twice as
// long as predicted.
bool CandidatePlans::reaches_host_by_nvlink(Sites const& sites) const {
  return sites.places.size() > sites.participants &&
         std::all_of(collective_.among.begin(), collective_.among.end(), [&](Place const& place) {
           auto const gpu = gpu_at(model_.machine(), place);
           return gpu && cpu_link(model_.machine(), *gpu);
         });
}

// Tries all styles and numbers of pieces, since which is best shows only when they are estimated, and keeps the best
// plan below the limit.
void CandidatePlans::add_trees_over(Sites const& sites, Seconds time_limit) {
  auto const before = candidates_.size();
  auto layout = layout_;
  struct ByKernels {
    bool between_gpus, through_host;
  };
  constexpr std::array<ByKernels, 3> kStyles{{{false, false}, {true, false}, {true, true}}};
  auto const& weights = kCollectiveLimits.packing_setup_cost_weights;
  for (auto const& by_kernels : kStyles) {
    if (by_kernels.through_host && !reaches_host_by_nvlink(sites)) continue;
    PackingStyle const style{
        by_kernels.between_gpus, by_kernels.through_host, {weights.begin(), weights.end()}, time_limit};
    for (auto& packing : packed_trees(collective_, sites, model_, style)) {
      if (exceed_peer_limit(model_.machine(), peers_of(packing, sites, model_.machine()))) {
        exceeded_peer_limit_ = true;
        continue;
      }
      layout.packing = std::move(packing);
      ways_.front().set_legs(layout.packing->legs);
      for (auto const pieces : kCollectiveLimits.packing_pieces) {
        layout.pipeline_chunks = pieces;
        for (auto const& schedule : schedules_of(collective_, Algorithm::PackedTrees, layout))
          add(collective_, Algorithm::PackedTrees, schedule, time_limit);
      }
    }
  }
  if (candidates_.size() <= before + 1) return;
  auto const first = candidates_.begin() + static_cast<std::ptrdiff_t>(before);
  std::iter_swap(
      first, std::min_element(first, candidates_.end(), [](auto const& a, auto const& b) { return a.time < b.time; }));
  candidates_.erase(first + 1, candidates_.end());
}

// The plan by copy engines where they are faster or by kernels throughout, by the fastest ways alone or by direct ones,
// whichever takes least time.
void CandidatePlans::add(Collective const& collective, Algorithm algorithm, TransferSchedule const& schedule,
                         Seconds time_limit) {
  // Through host memory copy engines move most data anyway, and packed trees fix the mover of every leg.
  bool const movers_fixed = algorithm == Algorithm::ThroughHost || algorithm == Algorithm::PackedTrees;
  auto contest = contest_below(time_limit);
  for_each_worthwhile(std::span(ways_).first(movers_fixed ? 1 : ways_.size()), [&](WayCache& ways) {
    enter(contest, plan_of_schedule(model_, collective, places_, algorithm, schedule, ways));
  });
  keep_best(std::move(contest));
}

CandidatePlans::Contest CandidatePlans::contest_below(Seconds time_limit) const {
  auto const limit = keep_ == Keep::Best ? std::min(time_limit, best_time()) : time_limit;
  // Where the first takes longer than this, any other that is below the limit replaces it.
  return {limit, limit / kReplaced, {}};
}

void CandidatePlans::enter(Contest& contest, Plan plan) const {
  if (auto const time = time_below(contest.time_to_beat, plan)) contest.best = Candidate{std::move(plan), *time};
  contest.time_to_beat = contest.best ? kReplaced * contest.best->time : contest.limit;
}

void CandidatePlans::keep_best(Contest contest) {
  if (!contest.best || contest.best->time >= contest.limit) return;
  if (keep_ == Keep::Best) candidates_.clear();
  candidates_.push_back(std::move(*contest.best));
}

std::optional<Seconds> CandidatePlans::time_below(Seconds limit, Plan const& plan) const {
  auto const between = time_between_kernels(model_, plan.steps);
  auto const makespan = makespan_below(limit - between, model_, plan.steps, plan.folding);
  if (!makespan || *makespan + between >= limit) return std::nullopt;
  return *makespan + between;
}

Seconds compared_time(Model const& model, Plan const& plan) {
  return estimate(model, plan.steps, plan.folding).makespan + time_between_kernels(model, plan.steps);
}

}  // namespace lanewise
