#include "core/planner/collectives/trees/tree_packing.hpp"

#include <utility>

#include "core/planner/collectives/trees/packing_program.hpp"

namespace lanewise {

std::vector<Packing> packed_trees(Collective const& collective, Sites const& sites, Model const& model,
                                  PackingStyle const& style) {
  std::vector<Packing> packings;
  if (!can_be_packed(collective, sites)) return packings;
  PackingProgram fastest(collective, sites, model, &style);
  if (!fastest.minimise_time(style.time_limit)) return packings;
  for (auto const setup_cost_weight : style.setup_cost_weights) {
    auto relieved = fastest;
    relieved.relieve_congestion(setup_cost_weight);
    if (auto packing = std::move(relieved).packing()) packings.push_back(std::move(*packing));
  }
  return packings;
}

}  // namespace lanewise
