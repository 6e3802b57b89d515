#include "core/planner/collectives/algorithms/rooted_groups.hpp"

#include <numeric>
#include <utility>

#include "core/planner/collectives/algorithms/patterns.hpp"

namespace lanewise {
namespace {

class RootedGroups {
 public:
  RootedGroups(Collective const& collective, ParticipantLayout const& layout, InterGroupPattern pattern,
               std::size_t slices)
      : pattern_(pattern),
        grouped_(collective, layout, slices),
        chunks_of_member_(GroupedSchedule::chunks_of_member(collective, layout, slices)) {
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (std::size_t m = 0; m < size_; ++m)
        if (groups_[g][m] == root_) {
          root_group_ = g;
          root_member_ = m;
        }
  }

  TransferSchedule build() {
    switch (grouped_.collective().op) {
      case CollectiveOp::Broadcast: broadcast(); break;
      case CollectiveOp::Scatter: scatter(); break;
      default: gather(); break;
    }
    return std::move(grouped_.schedule());
  }

 private:
  void send(std::size_t from, std::size_t to, std::uint32_t chunk) {
    if (from != to) grouped_.schedule().send(from, to, {chunk}, false);
  }

  // The root sends every byte once inside its group: the chunks of its own position go to other groups directly, and
  // another member of its group distributes them inside it. Between groups data go chunk by chunk, so that the last
  // group begins early; within a group, where nobody waits, those of a member at once.
  void broadcast() {
    for (std::size_t slice = 0; slice < slices_; ++slice)
      for (std::size_t m = 0; m < size_; ++m)
        for (auto const chunk : chunks(slice, m)) send(root_, holder(slice, m), chunk);
    grouped_.end_phase();
    for (std::size_t m = 0; m < size_; ++m) broadcast_between_groups(m);
    grouped_.end_phase(kCollectiveLimits.broadcast_outstanding);
    for (std::size_t slice = 0; slice < slices_; ++slice)
      for (std::size_t g = 0; g < groups_.size(); ++g)
        for (std::size_t m = 0; m < size_; ++m) {
          auto const from = g == root_group_ ? holder(slice, m) : groups_[g][m];
          for (auto const to : groups_[g])
            if (to != root_ && to != from) grouped_.schedule().send(from, to, chunks(slice, m), false);
        }
    grouped_.end_phase();
  }
  void broadcast_between_groups(std::size_t m) {
    Chunks all;
    for (std::size_t slice = 0; slice < slices_; ++slice)
      for (auto const chunk : chunks(slice, m)) all.push_back(chunk);
    switch (pattern_) {
      case InterGroupPattern::Tree: tree_broadcast(grouped_.schedule(), members_at(m, groups_.size() / 2), all); break;
      case InterGroupPattern::TwoTrees: two_tree_broadcast(grouped_.schedule(), members_at(m, 0), all); break;
      default: chain_broadcast(grouped_.schedule(), members_at(m, 0), all); break;
    }
  }
  // Of a broadcast, those of a slice that the members at position m send to other groups.
  [[nodiscard]] Chunks chunks(std::size_t slice, std::size_t m) const {
    Chunks all(chunks_of_member_);
    std::iota(all.begin(), all.end(), static_cast<std::uint32_t>((slice * size_ + m) * chunks_of_member_));
    return all;
  }
  // Who distributes these chunks within the root's group.
  [[nodiscard]] std::size_t holder(std::size_t slice, std::size_t m) const {
    return groups_[root_group_][m != root_member_ ? m : (m + 1 + slice % (size_ - 1)) % size_];
  }
  // The members at position m of all groups; the one in the root's group comes at `index`.
  [[nodiscard]] std::vector<std::size_t> members_at(std::size_t m, std::size_t index) const {
    std::vector<std::size_t> ranks;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      ranks.push_back(groups_[(root_group_ + g + groups_.size() - index) % groups_.size()][m]);
    return ranks;
  }

  // What has another hop to go is sent first.
  void scatter() {
    for_other_groups(
        [&](std::size_t, std::size_t m, std::uint32_t chunk) { send(root_, groups_[root_group_][m], chunk); });
    for_group(root_group_,
              [&](std::size_t, std::size_t m, std::uint32_t chunk) { send(root_, groups_[root_group_][m], chunk); });
    grouped_.end_phase();
    for_other_groups([&](std::size_t g, std::size_t m, std::uint32_t chunk) {
      send(groups_[root_group_][m], groups_[g][m], chunk);
    });
    grouped_.end_phase();
  }
  void gather() {
    for_other_groups([&](std::size_t g, std::size_t m, std::uint32_t chunk) {
      send(groups_[g][m], groups_[root_group_][m], chunk);
    });
    grouped_.end_phase();
    for_group(root_group_,
              [&](std::size_t, std::size_t m, std::uint32_t chunk) { send(groups_[root_group_][m], root_, chunk); });
    for_other_groups(
        [&](std::size_t, std::size_t m, std::uint32_t chunk) { send(groups_[root_group_][m], root_, chunk); });
    grouped_.end_phase();
  }
  // Both call visit(group, member, chunk).
  void for_group(std::size_t group, auto const& visit) const {
    for (std::size_t slice = 0; slice < slices_; ++slice)
      for (std::size_t m = 0; m < size_; ++m) visit(group, m, grouped_.chunk(slice, group, m));
  }
  void for_other_groups(auto const& visit) const {
    for (std::size_t slice = 0; slice < slices_; ++slice)
      for (std::size_t g = 1; g < groups_.size(); ++g)
        for (std::size_t m = 0; m < size_; ++m) {
          auto const group = (root_group_ + g) % groups_.size();
          visit(group, m, grouped_.chunk(slice, group, m));
        }
  }

  InterGroupPattern pattern_;
  GroupedSchedule grouped_;
  std::size_t chunks_of_member_;
  std::vector<std::vector<std::size_t>> const& groups_ = grouped_.groups();
  std::size_t slices_ = grouped_.slices();
  std::size_t size_ = grouped_.group_size();
  std::size_t root_ = grouped_.collective().root;
  std::size_t root_group_ = 0;
  std::size_t root_member_ = 0;
};

}  // namespace

TransferSchedule rooted_groups(Collective const& collective, ParticipantLayout const& layout, InterGroupPattern pattern,
                               std::size_t slices) {
  return RootedGroups(collective, layout, pattern, slices).build();
}

}  // namespace lanewise
