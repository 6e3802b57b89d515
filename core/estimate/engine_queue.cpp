#include "core/estimate/engine_queue.hpp"

#include <algorithm>

namespace lanewise {

EngineQueue::EngineQueue(Resources const& resources, std::span<Demand const> demands) : demands_(demands) {
  for (std::size_t i = 0; i < resources.engine_count(); ++i) free_.push_back(resources.at(EngineId(i)).slots);
}

bool EngineQueue::are_free(std::size_t step) const {
  return std::all_of(demands_[step].engines.begin(), demands_[step].engines.end(),
                     [&](EngineId engine) { return free_[index(engine)] > 0; });
}

bool EngineQueue::take(std::size_t step) {
  auto const& engines = demands_[step].engines;
  for (std::size_t k = 0; k < engines.size(); ++k) {
    if (free_[index(engines[k])]-- > 0) continue;
    for (std::size_t back = 0; back <= k; ++back) ++free_[index(engines[back])];
    return false;
  }
  return true;
}

void EngineQueue::release(std::size_t step) {
  for (auto const engine : demands_[step].engines) ++free_[index(engine)];
}

}  // namespace lanewise
