#include "core/calibration/makespan_together.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace lanewise {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Flow {
  Demand const* demand;
  double begins;  // seconds
  double left;    // bytes
  double rate = 0;
  bool settled = false;
};

// Raises the rates of all active flows together; the flows of whatever is full first stay at what they have.
void share(Model const& model, std::vector<Flow*> const& active) {
  std::map<ResourceId, double> free;
  for (auto* flow : active) {
    flow->settled = false;
    for (auto const& use : flow->demand->uses) free[use.resource] = model.capacity(use.resource)->value();
  }
  for (auto unsettled = active.size(); unsettled > 0;) {
    std::map<ResourceId, double> wanted;
    for (auto const* flow : active)
      for (auto const& use : flow->demand->uses)
        if (!flow->settled) wanted[use.resource] += use.weight.ratio();
    double level = kNever;
    for (auto const& [resource, weight] : wanted) level = std::min(level, free[resource] / weight);
    for (auto const* flow : active)
      if (!flow->settled) level = std::min(level, flow->demand->cap.value());
    auto const full = [&](ResourceId resource) { return free[resource] <= level * wanted[resource] * (1 + 1e-12); };
    std::vector<Flow*> settling;
    for (auto* flow : active) {
      if (flow->settled) continue;
      auto const& uses = flow->demand->uses;
      bool const bound = flow->demand->cap.value() <= level ||
                         std::any_of(uses.begin(), uses.end(), [&](Use const& use) { return full(use.resource); });
      if (bound || level == kNever) settling.push_back(flow);
    }
    for (auto* flow : settling) {
      flow->settled = true;
      flow->rate = level;
      for (auto const& use : flow->demand->uses) free[use.resource] -= level * use.weight.ratio();
    }
    unsettled -= settling.size();
  }
}

bool queue_for_engines(Model const& model, std::vector<Released> const& transfers) {
  std::map<EngineId, int> wanted;
  for (auto const& transfer : transfers)
    for (auto const engine : transfer.demand.engines)
      if (++wanted[engine] > model.resources().at(engine).slots) return true;
  return false;
}

}  // namespace

std::optional<Seconds> makespan_together(Model const& model, std::vector<Released> const& transfers) {
  if (queue_for_engines(model, transfers)) return std::nullopt;
  std::vector<Flow> flows;
  for (auto const& transfer : transfers) {
    if (transfer.demand.unknown) return std::nullopt;
    flows.push_back({&transfer.demand, transfer.demand.latency().value(), static_cast<double>(transfer.bytes.value())});
  }
  double now = 0;
  while (true) {
    std::vector<Flow*> active;
    double next = kNever;
    for (auto& flow : flows) {
      if (flow.left <= 0 && flow.begins <= now) continue;
      if (flow.begins <= now)
        active.push_back(&flow);
      else
        next = std::min(next, flow.begins);
    }
    if (active.empty() && next == kNever) return Seconds(now);
    share(model, active);
    auto const ends = [&](Flow const& flow) { return now + flow.left / flow.rate; };
    for (auto const* flow : active) next = std::min(next, ends(*flow));
    for (auto* flow : active) flow->left = ends(*flow) <= next ? 0 : flow->left - flow->rate * (next - now);
    now = next;
  }
}

}  // namespace lanewise
