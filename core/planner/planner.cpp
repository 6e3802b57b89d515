#include "lanewise/planner/planner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/json.hpp"
#include "core/planner/peer_mappings.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

// A way must be faster than an earlier, simpler one by this fraction to be chosen.
constexpr double kMinImprovement = 1e-3;

Attempt attempt_of(Model const& model, Request const& request, Way const& way, MappedPeers peers) {
  return {model.machine(), request.from, request.to, request.op, way, request.bytes, peers.source, peers.target};
}

bool uses_peer_access(Way const& way) { return way.mechanism == Mechanism::PcieP2p; }

std::string described_places(Machine const& machine, Request const& request) {
  return fmt::format("from '{}' to '{}'", machine.name_of(request.from), machine.name_of(request.to));
}

}  // namespace

Choice Planner::choose(Request const& request, MappedPeers peers) const {
  Choice choice;
  auto const ways = possible_ways(model_.machine(), request);
  if (ways.empty())
    throw PlanError(fmt::format("nothing moves data {}{}", described_places(model_.machine(), request),
                                request.only ? fmt::format(" by {}", to_string(*request.only)) : std::string()));
  choice.evaluated.reserve(ways.size());
  std::optional<std::size_t> uncosted;
  bool pull_is_legal = false;
  for (auto const& way : ways) {
    auto& evaluated = choice.evaluated.emplace_back(EvaluatedWay{way, nullptr, std::nullopt});
    evaluated.refused_by = refusal(attempt_of(model_, request, way, peers));
    if (evaluated.refused_by != nullptr) continue;
    if (way.mechanism == Mechanism::PcieP2p && way.drive == Drive::Pull) pull_is_legal = true;
    // A read is done as a push by the owner only if no pull is legal.
    bool const is_push_for_read =
        request.op == Op::Read && way.mechanism == Mechanism::PcieP2p && way.drive == Drive::Push;
    auto const demand = model_.lower(request.from, request.to, request.bytes, request.op, evaluated.way);
    evaluated.way.chunk = demand.chunk;  // the plan states it, so that every executor uses the same
    evaluated.cost = model_.cost(demand, request.bytes);
    auto const position = choice.evaluated.size() - 1;
    if (is_push_for_read && pull_is_legal) continue;
    if (!evaluated.cost) {
      if (!uncosted) uncosted = position;
      continue;
    }
    if (!choice.chosen ||
        evaluated.cost->time.value() < choice.evaluated[*choice.chosen].cost->time.value() * (1 - kMinImprovement))
      choice.chosen = position;
  }
  if (!choice.chosen) choice.chosen = uncosted;  // legal, of unknown speed
  return choice;
}

Candidate Planner::describe(Request const& request, EvaluatedWay const& evaluated) const {
  Candidate candidate;
  candidate.way = evaluated.way;
  candidate.op = request.op;
  if (evaluated.refused_by != nullptr) {
    candidate.refused_by = evaluated.refused_by->id;
    candidate.reason = evaluated.refused_by->sentence;
    return candidate;
  }
  for (auto const* rule : remarks(attempt_of(model_, request, evaluated.way, {})))
    candidate.remarks.emplace_back(rule->id);
  auto const demand = model_.lower(request.from, request.to, request.bytes, request.op, evaluated.way);
  candidate.route.reserve(demand.route.size());
  for (auto const& hop : demand.route) candidate.route.push_back(model_.name_of(hop));
  if (demand.unknown) candidate.reason = fmt::format("nobody says {}", model_.resources().at(*demand.unknown).missing);
  if (!evaluated.cost) return candidate;
  candidate.time = through_json(evaluated.cost->time);
  candidate.rendezvous = model_.rendezvous_from(request.from, request.to, demand, evaluated.way);
  if (demand.once > Seconds(0)) candidate.once = through_json(demand.once);
  candidate.latency = through_json(demand.latency());
  candidate.rate = through_json(evaluated.cost->rate);
  candidate.binding = model_.text_of_binding(*evaluated.cost);
  return candidate;
}

// Pairs that need peer access go first, then those that choose it, then those that may still use it. Nullopt where
// there are enough mappings for all.
std::optional<PeerMappings> Planner::peer_mappings(std::vector<Request> const& requests) const {
  auto const& machine = model_.machine();
  std::vector<PeerPair> pairs;
  for (auto const& request : requests)
    if (auto const pair = gpus_between(machine, request.from, request.to)) pairs.push_back(*pair);
  if (!exceed_peer_limit(machine, pairs)) return std::nullopt;
  std::vector<PeerPair> needing;
  std::vector<PeerPair> choosing;
  std::vector<PeerPair> allowing;
  for (auto const& request : requests) {
    auto const pair = gpus_between(machine, request.from, request.to);
    if (!pair) continue;
    auto const choice = choose(request);
    auto const is_legal = [&](bool (*is_wanted)(Way const&)) {
      return std::any_of(choice.evaluated.begin(), choice.evaluated.end(), [&](EvaluatedWay const& evaluated) {
        return evaluated.refused_by == nullptr && is_wanted(evaluated.way);
      });
    };
    if (!is_legal(uses_peer_access)) continue;
    bool const is_chosen = choice.chosen && uses_peer_access(choice.evaluated[*choice.chosen].way);
    auto& of_kind = !is_legal([](Way const& way) { return !uses_peer_access(way); }) ? needing
                    : is_chosen                                                      ? choosing
                                                                                     : allowing;
    of_kind.push_back(*pair);
  }
  PeerMappings mappings(machine);
  for (auto const* of_kind : {&needing, &choosing, &allowing}) mappings.add(*of_kind);
  return mappings;
}

Plan Planner::plan(std::vector<Request> const& requests) const {
  Plan plan;
  plan.machine = model_.machine().name;
  plan.fingerprint = fingerprint_;
  plan.steps.reserve(requests.size());
  plan.decisions.reserve(requests.size());
  auto const mappings = peer_mappings(requests);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto const& request = requests[i];
    auto const gpus = gpus_between(model_.machine(), request.from, request.to);
    auto const choice = choose(request, gpus && mappings ? mappings->besides(*gpus) : MappedPeers{});
    if (!choice.chosen) {
      auto const& last = choice.evaluated.front();
      throw PlanError(fmt::format("transfer '{}' {} has no legal way: {} ({})", request.id,
                                  described_places(model_.machine(), request), last.refused_by->id,
                                  last.refused_by->sentence));
    }
    auto const& chosen = choice.evaluated[*choice.chosen];
    Step step{request.id, request.from, request.to, request.bytes, request.op, chosen.way, {}};
    for (auto const before : request.after) step.after.push_back(StepId(before));
    Decision decision{request.id, StepId(i), {}, *choice.chosen};
    decision.any_mover = request.any_mover && requests.size() > 1 && gpus.has_value();
    decision.candidates.reserve(choice.evaluated.size());
    for (auto const& evaluated : choice.evaluated) decision.candidates.push_back(describe(request, evaluated));
    plan.steps.push_back(std::move(step));
    plan.decisions.push_back(std::move(decision));
  }
  plan.verify(model_.machine());
  return plan;
}

std::optional<TimeRange> time_range(Intervals const& intervals, Request const& request, Way const& way) {
  auto const range = intervals.of([&](Model const& model) {
    auto const cost = model.cost(model.lower(request.from, request.to, request.bytes, request.op, way), request.bytes);
    return cost ? cost->time.value() : 0.0;
  });
  if (!(range.high > 0)) return std::nullopt;
  return TimeRange{through_json(Seconds(range.low)), through_json(Seconds(range.high))};
}

void add_ranges(Plan& plan, Model const& model) {
  Intervals const intervals(model);
  for (auto& decision : plan.decisions) {
    auto const& step = plan.steps[index(decision.step)];
    Request request{.from = step.from, .to = step.to, .bytes = step.bytes, .op = step.op};
    for (auto const& piece : decision.others) request.bytes += plan.steps[index(piece.step)].bytes;
    auto& chosen = decision.candidates[decision.chosen];
    if (chosen.time) chosen.range = time_range(intervals, request, chosen.way);
  }
}

}  // namespace lanewise
