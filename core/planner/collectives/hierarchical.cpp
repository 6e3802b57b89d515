#include "core/planner/collectives/hierarchical.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace lanewise {
namespace {

// In how many slices it is tried, as long as none of its cells is cut below so many bytes, and there are not more moves
// than so many.
constexpr std::size_t kSlices[] = {2, 4, 8, 16, 32};
constexpr Bytes kLeastCell{std::int64_t{64} << 10};
constexpr std::size_t kMaxMoves = 20480;
// Among more than so many, of what all exchange only the most slices are worth their planning, up to so many moves, and
// one piece where it has few: of 256 MiB among 256 and 1,024 GPUs, 8 and 2 slices were best. From a root, half as many
// are.
constexpr std::size_t kMaxWeighed = 64;
constexpr std::size_t kMaxMovesOfMany = 65536;
// So many slices of what all exchange are between groups at once: with all of them, each is through as late as the
// last.
constexpr std::size_t kSlicesBetween = 3;
// Groups up to this number exchange from neighbour to neighbour: of more, rounds are too many where halves do it.
constexpr std::size_t kMaxNeighbours = 16;

// How groups exchange what is theirs, or the root's hands it to the others.
enum class Between : std::uint8_t {
  Halves,      // in fewest rounds
  Neighbours,  // from one to the next: passes a narrow place between them fewer times
  Tree,
  Blocks,  // all of a group's at once, by one of its members
};

class Hierarchy {
 public:
  Hierarchy(Collective const& collective, ParticipantLayout const& layout, Between between, std::size_t slices)
      : collective_(collective),
        groups_(layout.groups),
        between_(between),
        slices_(slices),
        size_(groups_.front().size()),
        moves_(collective.among.size(), collective.bytes, cells_of_slice(collective, layout) * slices) {
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (std::size_t m = 0; m < size_; ++m)
        if (groups_[g][m] == collective.root) {
          home_ = g;
          root_member_ = m;
        }
  }

  // A broadcast's data has a part for each member of a group, that of all others one for each participant.
  static std::size_t cells_of_slice(Collective const& collective, ParticipantLayout const& layout) {
    return collective.op == CollectiveOp::Broadcast ? layout.groups.front().size() : collective.among.size();
  }

  TransferSchedule take() {
    switch (collective_.op) {
      case CollectiveOp::Broadcast: broadcast(); break;
      case CollectiveOp::Scatter: scatter(); break;
      case CollectiveOp::Gather: gather(); break;
      default: between_ == Between::Blocks ? exchange_blocks() : exchange(); break;
    }
    return std::move(moves_);
  }

 private:
  void send(std::size_t from, std::size_t to, std::uint32_t cell) {
    if (from != to) moves_.send(from, to, {cell}, false);
  }
  // Of the moves since it was called last, those between the same two go one behind the other: what is first there goes
  // on first.
  void order_phase() {
    moves_.serialise_per_link(phase_);
    phase_ = moves_.list().size();
  }

  // ------------------------------------------------------------------------------------------ everyone to and from all

  // The cell that the member of a group ends (or begins) with: its own; of an all_reduce any, best beside its column's.
  [[nodiscard]] std::uint32_t cell(std::size_t slice, std::size_t group, std::size_t member) const {
    bool const whole = collective_.op == CollectiveOp::AllReduce;
    return static_cast<std::uint32_t>(whole ? (slice * size_ + member) * groups_.size() + group
                                            : groups_[group][member] * slices_ + slice);
  }
  // Of each member those of all its fellows.
  [[nodiscard]] std::vector<Chunks> columns(std::size_t slice) const {
    std::vector<Chunks> columns(size_);
    for (std::size_t m = 0; m < size_; ++m) {
      for (std::size_t g = 0; g < groups_.size(); ++g) columns[m].push_back(cell(slice, g, m));
      std::sort(columns[m].begin(), columns[m].end());
    }
    return columns;
  }

  void exchange() {
    if (has_reduce_scatter(collective_.op)) {
      within(direct_reduce_scatter);
      if (slices_ > 1) order_phase();  // else parts of one slice, which end together
    }
    std::vector<std::size_t> begins;  // of slices
    for (std::size_t slice = 0; slice < slices_; ++slice) {
      begins.push_back(moves_.list().size());
      if (has_reduce_scatter(collective_.op)) between(slice, recursive_halving_reduce_scatter, ring_reduce_scatter);
      if (has_all_gather(collective_.op)) between(slice, recursive_doubling_all_gather, ring_all_gather);
      if (slice >= kSlicesBetween)
        moves_.chain_after(begins[slice], begins[slice - kSlicesBetween], begins[slice - kSlicesBetween + 1]);
    }
    if (has_all_gather(collective_.op)) within(direct_all_gather);  // in the order in which it comes
  }
  void within(auto by) {
    for (std::size_t slice = 0; slice < slices_; ++slice)
      for (auto const& group : groups_) by(moves_, group, columns(slice));
  }
  // Members with the same place in their groups exchange what they share out among themselves.
  void between(std::size_t slice, auto by_halves, auto round) {
    for (std::size_t m = 0; m < size_; ++m) {
      std::vector<std::size_t> who;
      std::vector<Chunks> part;
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        who.push_back(groups_[g][m]);
        part.push_back({cell(slice, g, m)});
      }
      if (between_ == Between::Halves)
        by_halves(moves_, who, part);
      else
        round(moves_, who, part);
    }
  }

  // What belongs to all members of a group, in as many runs as there are slices.
  [[nodiscard]] std::vector<Chunks> runs_of(std::size_t group) const {
    Chunks cells;
    for (std::size_t slice = 0; slice < slices_; ++slice)
      for (std::size_t m = 0; m < size_; ++m) cells.push_back(cell(slice, group, m));
    std::sort(cells.begin(), cells.end());
    std::vector<Chunks> runs;
    for (auto begin = cells.begin(); begin != cells.end(); begin += static_cast<std::ptrdiff_t>(size_))
      runs.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size_));
    return runs;
  }
  // Of each member what belongs to it.
  [[nodiscard]] std::vector<Chunks> own_cells(std::size_t group) const {
    std::vector<Chunks> own(size_);
    for (std::size_t m = 0; m < size_; ++m)
      for (std::size_t slice = 0; slice < slices_; ++slice) own[m].push_back(cell(slice, group, m));
    return own;
  }
  // A run of a group goes to another, or is added up for it, by one member of each, in turns: a few long moves where
  // each member's cell by itself would be many short ones. Each does one at a time, or all would be through late.
  void exchange_blocks() {
    bool const adds = has_reduce_scatter(collective_.op);
    std::vector<std::vector<Chunks>> runs;
    for (std::size_t g = 0; g < groups_.size(); ++g) runs.push_back(runs_of(g));
    for (std::size_t g = 0; !adds && g < groups_.size(); ++g) direct_all_gather(moves_, groups_[g], own_cells(g));
    std::size_t turn = 0;
    for (std::size_t ahead = 1; ahead < groups_.size(); ++ahead)
      for (std::size_t run = 0; run < slices_; ++run, ++turn)
        for (std::size_t g = 0; g < groups_.size(); ++g) {
          auto const& here = groups_[g];
          auto const& there = groups_[(g + ahead) % groups_.size()];
          auto const by = turn % size_;
          auto const& cells = runs[adds ? (g + ahead) % groups_.size() : g][run];
          for (std::size_t other = 1; adds && other < size_; ++other)
            moves_.send(here[(by + other) % size_], here[by], cells, true);
          moves_.send(here[by], there[by], cells, adds);
          for (std::size_t other = 1; !adds && other < size_; ++other)
            moves_.send(there[by], there[(by + other) % size_], cells, false);
        }
    for (std::size_t g = 0; adds && g < groups_.size(); ++g) direct_reduce_scatter(moves_, groups_[g], own_cells(g));
    moves_.limit_outstanding(1, groups_);
  }

  // -------------------------------------------------------------------------------------------------------- from a
  // root

  // Each member of the root's group gets a part of the data, which goes on to its fellows and from these to all. The
  // root hands out every byte once: its own part goes to other groups by itself, and another member spreads it in its
  // group.
  void broadcast() {
    auto const part = [&](std::size_t slice, std::size_t m) { return static_cast<std::uint32_t>(slice * size_ + m); };
    auto const holder = [&](std::size_t slice, std::size_t m) {
      return groups_[home_][m != root_member_ ? m : (m + 1 + slice % (size_ - 1)) % size_];
    };
    for (std::size_t slice = 0; slice < slices_; ++slice)
      for (std::size_t m = 0; m < size_; ++m) send(collective_.root, holder(slice, m), part(slice, m));
    order_phase();
    for (std::size_t m = 0; m < size_; ++m) {
      Chunks cells;
      for (std::size_t slice = 0; slice < slices_; ++slice) cells.push_back(part(slice, m));
      if (between_ == Between::Tree)
        tree_broadcast(moves_, fellows(m, groups_.size() / 2), cells);
      else
        chain_broadcast(moves_, fellows(m, 0), cells);
    }
    order_phase();
    for (std::size_t slice = 0; slice < slices_; ++slice)
      for (std::size_t g = 0; g < groups_.size(); ++g)
        for (std::size_t m = 0; m < size_; ++m) {
          auto const from = g == home_ ? holder(slice, m) : groups_[g][m];
          for (auto const to : groups_[g])
            if (to != collective_.root) send(from, to, part(slice, m));
        }
    order_phase();
  }
  // Those with the m-th place in their groups, the one beside the root at a position of its own.
  [[nodiscard]] std::vector<std::size_t> fellows(std::size_t m, std::size_t position) const {
    std::vector<std::size_t> who;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      who.push_back(groups_[(home_ + g + groups_.size() - position) % groups_.size()][m]);
    return who;
  }

  // Through the root's neighbours, each of whom passes on what is its fellows'; what goes far goes first.
  void scatter() {
    for_far_cells([&](std::size_t, std::size_t m, std::uint32_t c) { send(collective_.root, groups_[home_][m], c); });
    for_cells_of(home_,
                 [&](std::size_t, std::size_t m, std::uint32_t c) { send(collective_.root, groups_[home_][m], c); });
    order_phase();
    for_far_cells([&](std::size_t g, std::size_t m, std::uint32_t c) { send(groups_[home_][m], groups_[g][m], c); });
    order_phase();
  }
  void gather() {
    for_far_cells([&](std::size_t g, std::size_t m, std::uint32_t c) { send(groups_[g][m], groups_[home_][m], c); });
    order_phase();
    for_cells_of(home_,
                 [&](std::size_t, std::size_t m, std::uint32_t c) { send(groups_[home_][m], collective_.root, c); });
    for_far_cells([&](std::size_t, std::size_t m, std::uint32_t c) { send(groups_[home_][m], collective_.root, c); });
    order_phase();
  }
  void for_cells_of(std::size_t group, auto const& visit) const {
    for (std::size_t slice = 0; slice < slices_; ++slice)
      for (std::size_t m = 0; m < size_; ++m) visit(group, m, cell(slice, group, m));
  }
  void for_far_cells(auto const& visit) const {
    for (std::size_t slice = 0; slice < slices_; ++slice)
      for (std::size_t g = 1; g < groups_.size(); ++g)
        for (std::size_t m = 0; m < size_; ++m) {
          auto const group = (home_ + g) % groups_.size();
          visit(group, m, cell(slice, group, m));
        }
  }

  Collective const& collective_;
  std::vector<std::vector<std::size_t>> const& groups_;
  Between between_;
  std::size_t slices_;
  std::size_t size_;      // of each group
  std::size_t home_ = 0;  // the root's group
  std::size_t root_member_ = 0;
  TransferSchedule moves_;
  std::size_t phase_ = 0;  // where it begins in the list
};

// Those worth trying; of a scatter or gather, which pass nothing on between groups, any one.
std::vector<Between> exchanges(Collective const& collective, std::size_t groups) {
  if (collective.op == CollectiveOp::Scatter || collective.op == CollectiveOp::Gather) return {Between::Neighbours};
  if (collective.op == CollectiveOp::Broadcast)
    return groups > 2 ? std::vector{Between::Neighbours, Between::Tree} : std::vector{Between::Neighbours};
  if (!std::has_single_bit(groups)) return {Between::Neighbours};
  return groups <= kMaxNeighbours ? std::vector{Between::Halves, Between::Neighbours} : std::vector{Between::Halves};
}

// Into how few runs an all_gather's groups cut what is theirs so that nearly all of their members are at work between
// them; none where these would be as many moves as without.
std::optional<std::size_t> runs_of_blocks(Collective const& collective, std::size_t groups, std::size_t size) {
  if (collective.op != CollectiveOp::AllGather && collective.op != CollectiveOp::ReduceScatter) return std::nullopt;
  constexpr double kNearlyAll = 0.85;
  for (std::size_t runs = 1; 2 * runs <= size; ++runs) {
    auto const turns = (groups - 1) * runs;
    auto const rounds = (turns + size - 1) / size;
    if (static_cast<double>(turns) >= kNearlyAll * static_cast<double>(rounds * size)) return runs;
  }
  return std::nullopt;
}

}  // namespace

std::vector<TransferSchedule> hierarchical_schedules(Collective const& collective, ParticipantLayout const& layout) {
  if (collective.op == CollectiveOp::AllToAll || collective.op == CollectiveOp::AllToAllV ||
      collective.op == CollectiveOp::Chain || layout.groups.size() < 2)
    return {};
  auto const count = collective.among.size();
  auto const size = layout.groups.front().size();
  for (auto const& group : layout.groups)
    if (group.size() != size || size < 2) return {};
  bool const many = count > kMaxWeighed;
  bool const exchanging = has_reduce_scatter(collective.op) || has_all_gather(collective.op);
  auto const cells = static_cast<std::int64_t>(Hierarchy::cells_of_slice(collective, layout));
  std::vector<TransferSchedule> all;
  if (auto const runs = runs_of_blocks(collective, layout.groups.size(), size)) {
    all.push_back(Hierarchy(collective, layout, Between::Blocks, *runs).take());
    if (many) return all;
  }
  for (auto const between : exchanges(collective, layout.groups.size())) {
    all.push_back(Hierarchy(collective, layout, between, 1).take());
    // Not of one piece: there cells of a column may be neighbours, and go as one.
    auto const moves_of_slice = Hierarchy(collective, layout, between, 2).take().list().size() / 2;
    auto const most_moves = !many ? kMaxMoves : exchanging ? kMaxMovesOfMany : kMaxMovesOfMany / 2;
    std::vector<std::size_t> sliced;
    for (auto const slices : kSlices)
      if (slices * moves_of_slice <= most_moves &&
          collective.bytes >= kLeastCell * (cells * static_cast<std::int64_t>(slices)))
        sliced.push_back(slices);
    if (many && exchanging && !sliced.empty()) {
      sliced = {sliced.back()};
      if (moves_of_slice > kMaxMoves) all.pop_back();
    }
    for (auto const slices : sliced) all.push_back(Hierarchy(collective, layout, between, slices).take());
  }
  return all;
}

}  // namespace lanewise
