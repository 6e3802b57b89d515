#include "core/estimate/posted_writes.hpp"

namespace lanewise {

std::vector<QuirkLimit> posted_write_limits(Machine const& machine, std::span<Step const> steps) {
  std::vector<PostedWrites> writes;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].way.mechanism == Mechanism::PcieP2p && steps[i].way.drive == Drive::Push &&
        steps[i].work == Seconds(0))
      writes.push_back({i, std::get<PciId>(steps[i].from), std::get<PciId>(steps[i].to)});
  if (writes.size() < 2) return {};  // they collapse only where several meet
  return posted_write_collapses(machine, writes);
}

}  // namespace lanewise
