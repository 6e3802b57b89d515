#pragma once
#include <bit>
#include <vector>

namespace lanewise {

// Who sends to whom in each of `count` rounds, so that everyone sends to one and receives from one in each, and to
// itself in round 0.
//
// With groups of equal size, all pairs of a round are inside groups or all are between them: if one pair stayed inside
// while others crossed, it would finish early, run ahead of the others from then on, and two would send to one. If the
// group size is a power of two, positions are paired by exclusive or. Take two GPUs and two NICs below one switch: by
// exclusive or each NIC then receives from its own rail; if each GPU sent to the next position, both would receive
// through one NIC.
class PairingSchedule {
 public:
  PairingSchedule(std::size_t count, std::vector<std::vector<std::size_t>> const& groups) : count_(count) {
    if (groups.size() < 2 || groups.size() * groups.front().size() != count) return;
    for (auto const& group : groups)
      if (group.size() != groups.front().size()) return;
    groups_ = &groups;
    positions_.resize(count);
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::size_t m = 0; m < groups[g].size(); ++m) positions_[groups[g][m]] = {g, m};
  }
  // The groups that take turns together; empty if everyone just sends to the next one, then to the one after it, and so
  // on.
  [[nodiscard]] std::vector<std::vector<std::size_t>> groups() const {
    return groups_ != nullptr ? *groups_ : std::vector<std::vector<std::size_t>>{};
  }
  [[nodiscard]] std::size_t receiver(std::size_t sender, std::size_t round) const {
    if (groups_ == nullptr) return (sender + round) % count_;
    auto const& groups = *groups_;
    auto const size = groups.front().size();
    auto const member = positions_[sender].member;
    auto const group = (positions_[sender].group + round / size) % groups.size();
    return groups[group][std::has_single_bit(size) ? member ^ (round % size) : (member + round) % size];
  }

 private:
  struct Position {
    std::size_t group = 0, member = 0;
  };
  std::size_t count_;
  std::vector<std::vector<std::size_t>> const* groups_ = nullptr;  // null unless all are of equal size
  std::vector<Position> positions_;                                // of each participant
};

}  // namespace lanewise
