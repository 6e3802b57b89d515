#include "core/estimate/folded_resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/model/place_classes.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

// From here on a factor that is whole within this part counts as whole: so the simulator, which counts in twentieths of
// a flow, divides large factors by one another exactly.
constexpr double kWholeFrom = 4;
constexpr double kWholeWithin = 0.02;

double factor_of(std::uint32_t steps, std::uint32_t resources) {
  auto const factor = static_cast<double>(steps) / resources;
  auto const whole = std::round(factor);
  return factor >= kWholeFrom && std::abs(factor - whole) < kWholeWithin * factor ? whole : factor;
}

}  // namespace

FoldedResources::FoldedResources(Model const& model, Folding const& folding)
    : alike_(model.resources().count()), engines_(model.resources().engine_count()) {
  auto const& classes = model.classes();
  if (!classes.has_nodes()) throw PlanError("the nodes of this machine are not alike, so its plans cannot be folded");
  std::vector<std::uint32_t> parent(alike_.size());
  std::iota(parent.begin(), parent.end(), 0U);
  auto const root = [&](std::size_t of) {
    while (parent[of] != of) of = parent[of] = parent[parent[of]];
    return parent[of];
  };
  std::vector<std::uint32_t> mentions(alike_.size(), 0);
  auto const join_node = [&](HostId node, HostId first, std::size_t units) {
    auto const own = classes.resources_of(node);
    auto const firsts = classes.resources_of(first);
    auto const own_engines = classes.engines_of(node);
    auto const first_engines = classes.engines_of(first);
    if (classes.likeness_of(node) != classes.likeness_of(first))
      throw PlanError(fmt::format("the plan is folded, and '{}' is not like '{}', which stands for it",
                                  model.machine().at(node).name, model.machine().at(first).name));
    for (std::size_t r = 0; r < own.size(); ++r) {
      ++mentions[index(own[r])];
      auto const a = root(index(own[r]));
      auto const b = root(index(firsts[r]));
      parent[std::max(a, b)] = std::min(a, b);
    }
    for (std::size_t e = 0; e < own_engines.size(); ++e)
      engines_[index(own_engines[e])] = {first_engines[e], static_cast<std::uint32_t>(units)};
  };
  for (std::size_t r = 0; r < alike_.size(); ++r)
    capacities_.push_back(model.capacity(ResourceId(r)).value_or(kUnlimited));
  for (std::size_t e = 0; e < engines_.size(); ++e) engines_[e].engine = EngineId(e);
  for (auto const& alike : folding)
    for (auto const& unit : alike.units) {
      auto const& first = alike.units.front();
      if (unit.size() != first.size())
        throw PlanError("units of a folded plan that stand for one another have equally many nodes");
      for (std::size_t k = 0; k < unit.size(); ++k) join_node(unit[k], first[k], alike.units.size());
    }
  std::vector<std::uint32_t> size(alike_.size(), 0);
  for (std::size_t r = 0; r < alike_.size(); ++r) ++size[root(r)];
  for (std::size_t r = 0; r < alike_.size(); ++r) alike_[r] = {root(r), size[root(r)], mentions[r]};
}

bool FoldedResources::are_even(Model const& model) const {
  for (std::size_t r = 0; r < alike_.size(); ++r) {
    auto const first = alike_[r].first;
    if (alike_[r].mentions != alike_[first].mentions ||
        model.capacity(ResourceId(r)) != model.capacity(ResourceId(first)))
      return false;
  }
  return true;
}

std::vector<ResourceId> FoldedResources::alike(ResourceId of) const {
  std::vector<ResourceId> all;
  for (std::size_t r = 0; r < alike_.size(); ++r)
    if (alike_[r].first == alike_[index(of)].first) all.push_back(ResourceId(r));
  return all;
}

std::vector<EngineId> FoldedResources::alike(EngineId of) const {
  std::vector<EngineId> all;
  for (std::size_t e = 0; e < engines_.size(); ++e)
    if (engines_[e].engine == engines_[index(of)].engine) all.push_back(EngineId(e));
  return all;
}

StepDemands FoldedResources::folded(StepDemands const& demands, std::vector<Step> const& steps) const {
  StepDemands all(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) add(all, demands[i], steps[i].count);
  return all;
}

void FoldedResources::add(StepDemands& to, StepDemand const& demand, std::uint32_t count) const {
  decltype(Demand::uses) uses;
  auto cap = demand.cap;
  for (auto const& use : demand.uses) {
    auto const& of_use = alike_[index(use.resource)];
    // The first unit does this for a part of its class only, but not faster than any unit does.
    if (count < of_use.size) cap = std::min(cap, capacities_[index(use.resource)] * (1 / use.weight.ratio()));
    Use const folded{ResourceId(of_use.first), use.weight.times(factor_of(count, of_use.size))};
    if (folded.weight.units() == 0) continue;
    auto* const same =
        std::find_if(uses.begin(), uses.end(), [&](Use const& other) { return other.resource == folded.resource; });
    if (same != uses.end())
      same->weight.add(folded.weight);
    else
      uses.push_back(folded);
  }
  auto const room = to.add(demand, uses.size());
  std::copy(uses.begin(), uses.end(), room.begin());
  StepDemand::Engines engines;
  for (auto const engine : demand.engines) {
    auto const& first = engines_[index(engine)];
    // Of a class most of whose units do something else meanwhile, the first does that.
    if (2 * count < first.units) continue;
    if (std::find(engines.begin(), engines.end(), first.engine) == engines.end()) engines.push_back(first.engine);
  }
  to[to.size() - 1].engines = engines;
  to[to.size() - 1].cap = cap;
}

}  // namespace lanewise
