#pragma once
// Which steps of a plan are alike: the same move, the same way, but between other nodes. What one of them takes is what
// all take, each of its own nodes' resources.
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/estimate/step_demands.hpp"
#include "core/model/place_classes.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

class StepKinds {
 public:
  explicit StepKinds(Model const& model) : classes_(model.classes()) {}

  struct Found {
    std::size_t kind = 0;
    bool is_new = false;  // no step of this kind was asked for before
  };
  // Nullopt for a step that is of no kind but its own: a computation, or one that passes a third node.
  std::optional<Found> of(Step const& step);
  // Whether any step like it was asked for before.
  bool is_known(Step const& step) {
    auto const found = of(step);
    return found && !found->is_new;
  }

 private:
  struct Key {
    PairClass pair;
    std::int64_t bytes = 0;
    Op op = Op::Copy;
    Mechanism mechanism = Mechanism::Local;
    bool reduces = false;
    friend bool operator==(Key const&, Key const&) = default;
  };
  struct KeyHash {
    std::size_t operator()(Key const& key) const;
  };
  struct Kind {
    Way way;
    PlaceClasses::Nodes at;
    std::size_t number = 0;
  };

  PlaceClasses const& classes_;
  std::unordered_map<Key, std::vector<Kind>, KeyHash> kinds_;
  std::size_t count_ = 0;
};

// Makes the demand of a step out of that of one like it, on the step's own nodes.
class MovedDemand {
 public:
  // Nullopt where the demand is on a third node.
  static std::optional<MovedDemand> of(Model const& model, Step const& step, Demand const& demand);
  void add_to(StepDemands& demands, PlaceClasses const& classes, Step const& step) const;

 private:
  struct SlotUse {
    PlaceClasses::Slot slot;
    Weight weight;
  };
  StepDemand demand_;  // without uses and engines
  std::vector<SlotUse> uses_;
  std::vector<PlaceClasses::Slot> engines_;
};

}  // namespace lanewise
