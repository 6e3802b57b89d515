#include "core/model/quirks.hpp"

#include <map>
#include <set>

namespace lanewise {
namespace {

// The function directly below the root port (or the host bridge) that `id` is under.
PciId below_root(Machine const& machine, PciId id) {
  auto at = id;
  while (machine.at(at).parent && machine.at(*machine.at(at).parent).kind != PciKind::RootPort)
    at = *machine.at(at).parent;
  return at;
}

}  // namespace

std::vector<QuirkLimit> posted_write_collapses(Machine const& machine, std::span<PostedWrites const> writes) {
  struct Meeting {
    std::set<PciId> sources, targets;
    std::vector<std::size_t> members;
  };
  std::map<PciId, Meeting> meetings;  // by the switch below a root port
  for (auto const& write : writes) {
    auto const uplink = below_root(machine, write.from);
    auto const target = below_root(machine, write.to);
    auto const* part = machine.part_of(uplink);
    if (uplink == target || machine.at(uplink).kind != PciKind::Switch || part == nullptr) continue;
    if (!part->pcie_switch.posted_write_collapse) continue;
    auto& meeting = meetings[uplink];
    meeting.sources.insert(write.from);
    meeting.targets.insert(target);
    meeting.members.push_back(write.transfer);
  }
  std::vector<QuirkLimit> limits;
  for (auto& [uplink, meeting] : meetings)
    if (meeting.sources.size() >= 2 && meeting.targets.size() >= 2)
      limits.push_back({machine.at(uplink).name + ".posted_write_collapse",
                        *machine.part_of(uplink)->pcie_switch.posted_write_collapse, std::move(meeting.members)});
  return limits;
}

}  // namespace lanewise
