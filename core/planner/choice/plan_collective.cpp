#include "lanewise/planner/choice/plan_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "core/planner/choice/candidate_plans.hpp"
#include "core/planner/collective_limits.hpp"
#include "core/solver/linear_program.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

void check_request(Collective const& collective) {
  auto const n = collective.among.size();
  if (n < 2) throw PlanError("a collective has at least two participants");
  if (collective.root >= n) throw PlanError("the root of a collective is one of its participants");
  if (std::set<Place>(collective.among.begin(), collective.among.end()).size() != n)
    throw PlanError("a participant of a collective is named twice");
  constexpr std::int64_t kElement = 16;
  if (collective.op == CollectiveOp::AllToAll &&
      collective.bytes.value() % (kElement * static_cast<std::int64_t>(n)) != 0)
    throw PlanError(fmt::format("all_to_all among {} needs bytes that are a multiple of {}", n,
                                kElement * static_cast<std::int64_t>(n)));
  if (collective.op != CollectiveOp::AllToAllV) return;
  bool const square = collective.sizes.size() == n && std::all_of(collective.sizes.begin(), collective.sizes.end(),
                                                                  [&](auto const& row) { return row.size() == n; });
  if (!square) throw PlanError(fmt::format("all_to_all_v among {} needs {} rows of {} sizes", n, n, n));
}

// Whether the algorithm has few enough steps to be tried among so many participants.
bool is_worth_trying(Algorithm algorithm, Collective const& collective) {
  if (collective.among.size() <= kCollectiveLimits.all_algorithms_max_participants) return true;
  switch (algorithm) {
    case Algorithm::Hierarchical:
    case Algorithm::HalvingDoubling: return true;
    case Algorithm::Direct: return collective.op == CollectiveOp::Scatter || collective.op == CollectiveOp::Gather;
    case Algorithm::Tree:
      return (collective.op == CollectiveOp::Broadcast || collective.op == CollectiveOp::Reduce) &&
             collective.among.size() <= kCollectiveLimits.tree_max_participants;
    default: return false;
  }
}

// Among few participants more algorithms are tried than fold.
bool may_be_folded(Collective const& collective) {
  if (collective.among.size() <= kCollectiveLimits.all_algorithms_max_participants) return false;
  return collective.algorithm == Algorithm::Auto ||
         collective.algorithm ==
             (collective.op == CollectiveOp::AllToAll ? Algorithm::Direct : Algorithm::Hierarchical);
}

// The most participants of a plan whose every step is written down.
std::size_t max_participants(Collective const& collective) {
  switch (collective.op) {
    case CollectiveOp::AllToAll:
    case CollectiveOp::AllToAllV: return kCollectiveLimits.pairs_max_participants;
    case CollectiveOp::Broadcast:
    case CollectiveOp::Reduce:
    case CollectiveOp::Chain: return std::numeric_limits<std::size_t>::max();
    default: break;
  }
  bool const by_pairs = collective.algorithm == Algorithm::Direct || collective.algorithm == Algorithm::Ring;
  bool const is_one_way = collective.op == CollectiveOp::Scatter || collective.op == CollectiveOp::Gather;
  return by_pairs && !is_one_way ? kCollectiveLimits.pairs_max_participants : kCollectiveLimits.max_participants;
}

void require_few_participants(Collective const& collective) {
  auto const n = collective.among.size();
  auto const most = max_participants(collective);
  if (n <= most) return;
  throw PlanError(
      fmt::format("{} among {}: at most {} participants are planned step by step; only exchanges among nodes "
                  "that are alike, with equally many below each switch, have no limit",
                  to_string(collective.op), n, most));
}

// The shortest first; at least one.
std::vector<CandidatePlans::Candidate> candidates_of(Model const& model, Collective const& collective, Keep keep,
                                                     Detail detail, Effort effort) {
  check_request(collective);
  CandidatePlans plans(model, collective, keep);
  if (detail == Detail::Folded && may_be_folded(collective) && plans.add_folded()) return std::move(plans).take();
  require_few_participants(collective);
  bool const is_auto = collective.algorithm == Algorithm::Auto;
  plans.add_all([&](Algorithm algorithm) {
    return is_auto ? is_worth_trying(algorithm, collective) : algorithm == collective.algorithm;
  });
  // Among many participants, perhaps only an algorithm of many steps can do this collective.
  auto const by_pairs = collective.among.size() <= kCollectiveLimits.pairs_max_participants;
  if (is_auto && plans.empty() && by_pairs) plans.add_all([](Algorithm) { return true; });
  if (is_auto ? effort == Effort::Full && plans.is_worth_packing() : collective.algorithm == Algorithm::PackedTrees)
    plans.add_packed_trees();
  if (is_auto ? plans.is_worth_a_set() : collective.algorithm == Algorithm::TransferSet)
    plans.add_planned_as_set(effort);
  bool const exceeded_peer_limit = plans.exceeded_peer_limit();
  auto candidates = std::move(plans).take();
  if (candidates.empty() && collective.algorithm == Algorithm::PackedTrees && !linear_solver())
    throw PlanError("packed_trees needs a linear solver, which this build has not (package coinor-libclp-dev)");
  if (candidates.empty() && exceeded_peer_limit)
    throw PlanError(fmt::format("{} among these {} needs more PCIe peers than a GPU maps (P2P-PEER-LIMIT)",
                                to_string(collective.algorithm), collective.among.size()));
  if (candidates.empty())
    throw PlanError(fmt::format("{} does not do {} among these {}", to_string(collective.algorithm),
                                to_string(collective.op), collective.among.size()));
  return candidates;
}

}  // namespace

std::vector<Plan> plans_of_collective(Model const& model, Collective const& collective, Keep keep, Detail detail,
                                      Effort effort) {
  std::vector<Plan> plans;
  for (auto& candidate : candidates_of(model, collective, keep, detail, effort))
    plans.push_back(std::move(candidate.plan));
  return plans;
}

Plan plan_collective(Model const& model, Collective const& collective, Detail detail, Effort effort) {
  auto plan = std::move(plans_of_collective(model, collective, Keep::Best, detail, effort).front());
  plan.verify(model.machine());
  return plan;
}

}  // namespace lanewise
