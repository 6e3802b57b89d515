#pragma once
// What a step of a folded plan takes of the machine: of the first unit of each class what it would take of any, and of
// what units share its part for each of the steps that it stands for.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/estimate/step_demands.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

class FoldedResources {
 public:
  // Throws PlanError where the nodes of the machine cannot be told apart, or the units of a class are not alike.
  FoldedResources(Model const& model, Folding const& folding);

  // Whether resources that stand for one another have equal capacities and are shared by equally many units: if so, a
  // folded run takes as long as the whole.
  [[nodiscard]] bool are_even(Model const& model) const;

  // Those that one of them stands for, with itself.
  [[nodiscard]] std::vector<ResourceId> alike(ResourceId of) const;
  [[nodiscard]] std::vector<EngineId> alike(EngineId of) const;

  // What all steps that each stands for take of the first units.
  [[nodiscard]] StepDemands folded(StepDemands const& demands, std::vector<Step> const& steps) const;

 private:
  // Resources that stand for one another are as one: the first of them.
  struct Alike {
    std::uint32_t first = 0;
    std::uint32_t size = 1;      // resources
    std::uint32_t mentions = 0;  // how often the lists of units' nodes have it
  };

  // That of the first unit, which stands for those of all.
  struct FirstEngine {
    EngineId engine{};
    std::uint32_t units = 1;  // in the class
  };

  void add(StepDemands& to, StepDemand const& demand, std::uint32_t count) const;

  std::vector<Alike> alike_;                // by ResourceId
  std::vector<BytesPerSecond> capacities_;  // by ResourceId
  std::vector<FirstEngine> engines_;        // by EngineId
};

}  // namespace lanewise
