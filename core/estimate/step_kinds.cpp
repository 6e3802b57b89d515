#include "core/estimate/step_kinds.hpp"

namespace lanewise {

std::size_t StepKinds::KeyHash::operator()(Key const& key) const {
  auto const words =
      (static_cast<std::size_t>(key.op) * kMechanismCount + static_cast<std::size_t>(key.mechanism)) * 2 +
      (key.reduces ? 1 : 0);
  constexpr std::size_t kMost = 1'024;  // more than there are words
  return std::hash<PairClass>{}(key.pair) ^ (std::hash<std::int64_t>{}(key.bytes) * kMost + words);
}

std::optional<StepKinds::Found> StepKinds::of(Step const& step) {
  if (step.work > Seconds(0)) return std::nullopt;
  auto const nodes = classes_.nodes_of(step.from, step.to);
  if (!classes_.moved(step.way, nodes, nodes)) return std::nullopt;
  Key const key{classes_.of(step.from, step.to), step.bytes.value(), step.op, step.way.mechanism, step.reduces};
  auto& kinds = kinds_[key];
  for (auto const& kind : kinds)
    if (classes_.moved(kind.way, kind.at, nodes) == step.way) return Found{kind.number, false};
  kinds.push_back({step.way, nodes, count_});
  return Found{count_++, true};
}

std::optional<MovedDemand> MovedDemand::of(Model const& model, Step const& step, Demand const& demand) {
  auto const& classes = model.classes();
  auto const nodes = classes.nodes_of(step.from, step.to);
  MovedDemand moved;
  moved.demand_ = StepDemand(demand);
  moved.demand_.uses = {};
  moved.demand_.engines = {};
  for (auto const& use : demand.uses) {
    auto const slot = classes.slot_of(use.resource, nodes);
    if (!slot) return std::nullopt;
    moved.uses_.push_back({*slot, use.weight});
  }
  for (auto const engine : demand.engines) {
    auto const slot = classes.slot_of(engine, nodes);
    if (!slot) return std::nullopt;
    moved.engines_.push_back(*slot);
  }
  return moved;
}

void MovedDemand::add_to(StepDemands& demands, PlaceClasses const& classes, Step const& step) const {
  auto const nodes = classes.nodes_of(step.from, step.to);
  auto const uses = demands.add(demand_, uses_.size());
  for (std::size_t i = 0; i < uses_.size(); ++i) uses[i] = {classes.resource_at(uses_[i].slot, nodes), uses_[i].weight};
  auto& engines = demands[demands.size() - 1].engines;
  for (auto const& slot : engines_) engines.push_back(classes.engine_at(slot, nodes));
}

}  // namespace lanewise
