#pragma once
#include <cstdint>
#include <vector>

#include "core/planner/collective_limits.hpp"
#include "core/planner/collectives/algorithms/participant_layout.hpp"
#include "core/planner/collectives/algorithms/transfer_schedule.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise {

// How the members with the same position in their groups exchange what is theirs, or forward the root's data.
enum class InterGroupPattern : std::uint8_t {
  Halving,      // recursive halving and doubling: the fewest rounds
  Ring,         // crosses a bottleneck between groups fewer times
  Tree,         // of a broadcast
  TwoTrees,     // of a broadcast: each for half of the chunks
  WholeGroups,  // one member sends all that its group has to another group, a different member each time
};

// How the members of a group reduce for one another.
enum class IntraGroupPattern : std::uint8_t {
  InTurn,     // each from one member after another: the first slice is through early
  AllAtOnce,  // from all members, slices beginning with different ones: uses all links of a mesh
};

// Slices for IntraGroupPattern::AllAtOnce, where InTurn has `slices`: as many for each link of a member.
inline std::size_t slices_at_once(std::size_t slices, std::size_t members) { return slices / 2 * (members - 1); }

// The schedule of a hierarchical algorithm under construction: groups of equal size, the data in slices, each of which
// has a chunk for every member of every group (of a broadcast in slices, some for every member of a group).
class GroupedSchedule {
 public:
  GroupedSchedule(Collective const& collective, ParticipantLayout const& layout, std::size_t slices)
      : collective_(collective),
        groups_(layout.groups),
        slices_(slices),
        group_size_(groups_.front().size()),
        schedule_(collective.among.size(), collective.bytes, chunks_of_slice(collective, layout, slices) * slices) {}

  [[nodiscard]] Collective const& collective() const { return collective_; }
  [[nodiscard]] std::vector<std::vector<std::size_t>> const& groups() const { return groups_; }
  [[nodiscard]] std::size_t slices() const { return slices_; }
  [[nodiscard]] std::size_t group_size() const { return group_size_; }
  [[nodiscard]] TransferSchedule& schedule() { return schedule_; }

  static std::size_t chunks_of_slice(Collective const& collective, ParticipantLayout const& layout,
                                     std::size_t slices) {
    auto const size = layout.groups.front().size();
    return collective.op == CollectiveOp::Broadcast ? size * chunks_of_member(collective, layout, slices)
                                                    : layout.groups.size() * size;
  }
  // Of a slice of a broadcast. Between two groups nothing is forwarded, so that smaller chunks would gain nothing.
  static std::size_t chunks_of_member(Collective const& collective, ParticipantLayout const& layout,
                                      std::size_t slices) {
    constexpr auto kChunks = kCollectiveLimits.broadcast_chunks_between_groups;
    auto const least =
        kCollectiveLimits.min_slice_chunk * static_cast<std::int64_t>(layout.groups.front().size() * slices * kChunks);
    return layout.groups.size() > 2 && slices > 1 && collective.bytes >= least ? kChunks : 1;
  }

  // The chunk of a slice that a member ends (or begins) with. In an all_reduce any assignment will do; this one makes
  // the chunks of members with the same position neighbours.
  [[nodiscard]] std::uint32_t chunk(std::size_t slice, std::size_t group, std::size_t member) const {
    bool const is_all_reduce = collective_.op == CollectiveOp::AllReduce;
    return static_cast<std::uint32_t>(is_all_reduce ? (slice * group_size_ + member) * groups_.size() + group
                                                    : groups_[group][member] * slices_ + slice);
  }

  // Serialises the transfers since the last call per link: the chunk that is sent first is forwarded first.
  void end_phase(std::size_t outstanding = 1) {
    schedule_.serialise_per_link(phase_, outstanding);
    phase_ = schedule_.transfers().size();
  }

 private:
  Collective const& collective_;
  std::vector<std::vector<std::size_t>> const& groups_;
  std::size_t slices_;
  std::size_t group_size_;
  TransferSchedule schedule_;
  std::size_t phase_ = 0;  // number of the phase's first transfer
};

}  // namespace lanewise
