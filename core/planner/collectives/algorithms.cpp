#include "core/planner/collectives/algorithms.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "core/planner/collectives/hierarchical.hpp"
#include "core/planner/collectives/trees/packed_schedule.hpp"

namespace lanewise {
namespace {

// `part[p]`: the cells of participant p, `each` of them neighbours; of these the ring-th of `rings`.
std::vector<Chunks> parts(std::vector<std::size_t> const& who, std::size_t each, std::size_t ring, std::size_t rings) {
  std::vector<Chunks> part;
  for (auto const p : who) {
    auto& cells = part.emplace_back();
    for (auto k = ring; k < each; k += rings) cells.push_back(static_cast<std::uint32_t>(p * each + k));
  }
  return part;
}

// Of more participants not everyone sends to all others at once, but to so many of other groups and of its own. With
// few a NIC idles while the next begins: an all-to-all of 256 MiB among 256 GPUs with a NIC each takes 5.48 ms with 2,
// 5.36 ms with 4 (at least 5.24).
constexpr std::size_t kMaxAtOnce = 64;
constexpr std::size_t kWindow = 4;

std::vector<std::size_t> everyone(std::size_t count) {
  std::vector<std::size_t> who(count);
  std::iota(who.begin(), who.end(), std::size_t{0});
  return who;
}

// Who sends to whom in each step: everyone to one other, and gets from one; in step 0 it is its own. Groups of equal
// size go to other groups all in the same steps: whoever sent within its own meanwhile would be ahead of the others
// from then on, and two would send to one. Places in groups, where they are a power of two, are paired: of two GPUs
// below one switch, listed one behind the other, each reaches the other's fellow by its own NIC, and that gets it by
// the one of the same rail; if each sent to the next place both would get by one NIC.
class PairingSchedule {
 public:
  PairingSchedule(std::size_t count, std::vector<std::vector<std::size_t>> const& groups) : count_(count) {
    if (groups.size() < 2 || groups.size() * groups.front().size() != count) return;
    for (auto const& group : groups)
      if (group.size() != groups.front().size()) return;
    groups_ = &groups;
    places_.resize(count);
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (std::size_t m = 0; m < groups[g].size(); ++m) places_[groups[g][m]] = {g, m};
  }
  // The groups that go together; empty where everyone sends to the next place, then the one behind it and so on.
  [[nodiscard]] std::vector<std::vector<std::size_t>> groups() const {
    return groups_ != nullptr ? *groups_ : std::vector<std::vector<std::size_t>>{};
  }
  [[nodiscard]] std::size_t other(std::size_t from, std::size_t step) const {
    if (groups_ == nullptr) return (from + step) % count_;
    auto const& groups = *groups_;
    auto const size = groups.front().size();
    auto const member = places_[from].member;
    auto const group = (places_[from].group + step / size) % groups.size();
    return groups[group][std::has_single_bit(size) ? member ^ (step % size) : (member + step) % size];
  }

 private:
  struct GroupPlace {
    std::size_t group = 0, member = 0;
  };
  std::size_t count_;
  std::vector<std::vector<std::size_t>> const* groups_ = nullptr;  // where all are as large
  std::vector<GroupPlace> places_;                                 // of each participant
};

// Rows of the sizes lie one behind the other at the senders, columns at the receivers.
TransferSchedule direct_uneven(Collective const& collective, ParticipantLayout const& layout) {
  auto const n = collective.among.size();
  auto const& sizes = collective.sizes;
  TransferSchedule moves(n, collective.bytes, 1);
  std::vector<std::vector<Bytes>> read_at(n, std::vector<Bytes>(n));
  auto write_at = read_at;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 1; j < n; ++j) {
      read_at[i][j] = read_at[i][j - 1] + sizes[i][j - 1];
      write_at[j][i] = write_at[j - 1][i] + sizes[j - 1][i];
    }
  PairingSchedule const shifts(n, layout.groups);
  for (std::size_t step = 0; step < n; ++step)
    for (std::size_t i = 0; i < n; ++i) {
      auto const other = shifts.other(i, step);
      moves.send_block_to_output(i, other, read_at[i][other], write_at[i][other], sizes[i][other]);
    }
  if (n > kMaxAtOnce) moves.limit_outstanding(kWindow, shifts.groups());
  return moves;
}

std::optional<TransferSchedule> direct(Collective const& collective, ParticipantLayout const& layout) {
  if (collective.op == CollectiveOp::Chain) return std::nullopt;
  if (collective.op == CollectiveOp::AllToAllV) return direct_uneven(collective, layout);
  auto const n = collective.among.size();
  auto const who = everyone(n);
  TransferSchedule moves(n, collective.bytes, n);
  auto const part = parts(who, 1, 0, 1);
  if (has_reduce_scatter(collective.op)) direct_reduce_scatter(moves, who, part);
  if (has_all_gather(collective.op)) direct_all_gather(moves, who, part);
  PairingSchedule const shifts(n, layout.groups);
  for (std::size_t step = 0; step < n; ++step)
    for (std::size_t i = 0; i < n; ++i) {
      auto const other = shifts.other(i, step);
      if (collective.op == CollectiveOp::AllToAll)
        moves.send_to_output(i, other, static_cast<std::uint32_t>(other), static_cast<std::uint32_t>(i), false);
      if (step == 0) continue;
      if (collective.op == CollectiveOp::Scatter && i == collective.root) moves.send(i, other, part[other], false);
      if (collective.op == CollectiveOp::Gather && other == collective.root) moves.send(i, other, part[i], false);
      if (collective.op == CollectiveOp::Broadcast && i == collective.root)
        for (auto const& cells : part) moves.send(i, other, cells, false);
    }
  bool const in_shifts = !has_reduce_scatter(collective.op) && !has_all_gather(collective.op);
  if (n > kMaxAtOnce) moves.limit_outstanding(kWindow, in_shifts ? shifts.groups() : decltype(layout.groups){});
  return moves;
}

std::optional<TransferSchedule> ring(Collective const& collective, ParticipantLayout const& layout) {
  auto const n = collective.among.size();
  if (collective.op == CollectiveOp::Chain) {
    TransferSchedule moves(n, collective.bytes, collective.pieces);
    Chunks all(collective.pieces);
    std::iota(all.begin(), all.end(), std::uint32_t{0});
    chain_broadcast(moves, everyone(n), all);
    moves.serialise_per_link();
    return moves;
  }
  auto const rings = layout.rings.size();
  if (collective.op == CollectiveOp::Broadcast) {
    auto const cells = std::max(rings, layout.chunks);
    TransferSchedule moves(n, collective.bytes, cells);
    for (std::size_t r = 0; r < rings; ++r) {
      auto order = layout.rings[r];
      std::rotate(order.begin(), std::find(order.begin(), order.end(), collective.root), order.end());
      Chunks own;
      for (auto c = r; c < cells; c += rings) own.push_back(static_cast<std::uint32_t>(c));
      chain_broadcast(moves, order, own);
    }
    moves.serialise_per_link();
    return moves;
  }
  if (!has_reduce_scatter(collective.op) && !has_all_gather(collective.op)) return std::nullopt;
  TransferSchedule moves(n, collective.bytes, n * rings);
  for (std::size_t r = 0; r < rings; ++r) {
    auto const& order = layout.rings[r];
    auto const part = parts(order, rings, r, rings);
    auto const first = moves.list().size();
    if (has_reduce_scatter(collective.op)) ring_reduce_scatter(moves, order, part);
    if (has_all_gather(collective.op)) ring_all_gather(moves, order, part);
    moves.serialise_per_link(first);  // what shares a link with the one before it makes everyone behind wait
  }
  return moves;
}

// Two trees, the second one place further: whoever is a leaf of the one mostly is none of the other (Sanders, Speck and
// Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009).
std::optional<TransferSchedule> tree(Collective const& collective, ParticipantLayout const& layout) {
  auto const n = collective.among.size();
  bool const broadcast = collective.op == CollectiveOp::Broadcast;
  if (!broadcast && collective.op != CollectiveOp::AllReduce) return std::nullopt;
  auto const cells = 2 * layout.chunks;
  TransferSchedule moves(n, collective.bytes, cells);
  std::vector<std::vector<std::size_t>> trees;
  for (std::size_t t = 0; t < 2; ++t) {
    auto who = everyone(n);
    // A broadcast's root is the root of both trees, the middle; the others lie around it, the second time one further.
    std::rotate(who.begin(), who.begin() + static_cast<std::ptrdiff_t>(t % n), who.end());
    if (broadcast) {
      auto const root = std::find(who.begin(), who.end(), collective.root);
      std::iter_swap(root, who.begin() + static_cast<std::ptrdiff_t>(n / 2));
    }
    trees.push_back(std::move(who));
  }
  // Cell by cell through both trees, so that no tree waits for the other to be through.
  for (std::uint32_t c = 0; c < cells && !broadcast; ++c) tree_reduce(moves, trees[c % 2], {c});
  for (std::uint32_t c = 0; c < cells; ++c) tree_broadcast(moves, trees[c % 2], {c});
  return moves;
}

std::optional<TransferSchedule> halving_doubling(Collective const& collective) {
  auto const n = collective.among.size();
  if (!std::has_single_bit(n) || (!has_reduce_scatter(collective.op) && !has_all_gather(collective.op)))
    return std::nullopt;
  auto const who = everyone(n);
  auto const part = parts(who, 1, 0, 1);
  TransferSchedule moves(n, collective.bytes, n);
  if (has_reduce_scatter(collective.op)) recursive_halving_reduce_scatter(moves, who, part);
  if (has_all_gather(collective.op)) recursive_doubling_all_gather(moves, who, part);
  return moves;
}

// How data get to all through host memory.
struct HostMemoryVariant {
  std::size_t pieces = 1;        // of each part, one behind the other
  bool directly_nearby = false;  // to those near the same memory
};
constexpr HostMemoryVariant kHostings[] = {{1, false}, {1, true}, {4, false}, {4, true}, {16, false}, {16, true}};
constexpr std::size_t kMaxSteps = 8192;

class ThroughHostSteps {
 public:
  ThroughHostSteps(Collective const& collective, ParticipantLayout const& layout, HostMemoryVariant const& hosting)
      : layout_(layout),
        hosting_(hosting),
        n_(collective.among.size()),
        island_(everyone(n_)),
        moves_(n_ + layout.near.size(), collective.bytes, n_ * hosting.pieces) {
    for (std::size_t g = 0; layout.groups.size() > 1 && g < layout.groups.size(); ++g)
      for (auto const p : layout.groups[g]) island_[p] = g;
    if (has_reduce_scatter(collective.op))
      direct_reduce_scatter(moves_, everyone(n_), parts(everyone(n_), hosting.pieces, 0, 1));
    for (std::size_t k = 0; k < hosting.pieces; ++k)
      for (std::size_t part = 0; part < n_; ++part)
        for (std::size_t m = 0; m < layout.near.size(); ++m)
          hand_to(m, collective.op == CollectiveOp::Broadcast ? collective.root : part, part * hosting.pieces + k);
    moves_.serialise_per_link();
  }
  TransferSchedule take() { return std::move(moves_); }

 private:
  // One cell of `from` to all near a host memory.
  void hand_to(std::size_t memory, std::size_t from, std::size_t cell) {
    auto const& near = layout_.near[memory].participants;
    bool const own = std::find(near.begin(), near.end(), from) != near.end();
    bool const direct = own && hosting_.directly_nearby;
    Chunks const cells{static_cast<std::uint32_t>(cell)};
    std::map<std::size_t, std::vector<std::size_t>> islands;
    for (auto const p : near) islands[island_[p]].push_back(p);
    bool written = direct;
    for (auto const& [id, members] : islands) {
      auto const holder = id == island_[from] ? from : members[cell % members.size()];
      if (holder != from) {
        if (!written) moves_.send(from, n_ + memory, cells, false);
        written = true;
        moves_.send(direct ? from : n_ + memory, holder, cells, false);
      }
      for (auto const p : members)
        if (p != holder && p != from) moves_.send(holder, p, cells, false);
    }
  }

  ParticipantLayout const& layout_;
  HostMemoryVariant const& hosting_;
  std::size_t n_;
  std::vector<std::size_t> island_;  // whom NVLink joins
  TransferSchedule moves_;
};

// What a participant has goes to each host memory once, however many there read it. Of those that NVLink joins one
// reads it, and passes it on. An all_reduce adds up as the direct one.
std::optional<TransferSchedule> through_host(Collective const& collective, ParticipantLayout const& layout,
                                             HostMemoryVariant const& hosting) {
  auto const n = collective.among.size();
  if (layout.near.empty() || (collective.op != CollectiveOp::Broadcast && !has_all_gather(collective.op)))
    return std::nullopt;
  if (n == 2) return std::nullopt;  // with one reader this is a staged copy
  if ((hosting.directly_nearby && layout.near.size() < 2) || n * n * hosting.pieces > kMaxSteps) return std::nullopt;
  return ThroughHostSteps(collective, layout, hosting).take();
}

// The other direct all_reduce: everyone adds up all that the others have, beside its own data. TransferSchedule n/2
// times as much as in two steps, but nobody waits for anybody. Nullopt for other collectives.
std::optional<TransferSchedule> in_one_step(Collective const& collective) {
  if (collective.op != CollectiveOp::AllReduce) return std::nullopt;
  auto const n = collective.among.size();
  TransferSchedule moves(n, collective.bytes, 1);
  for (std::size_t step = 0; step < n; ++step)
    for (std::size_t i = 0; i < n; ++i) moves.send_to_output((i + step) % n, i, 0, 0, step > 0);
  return moves;
}

}  // namespace

std::vector<TransferSchedule> schedules_of(Collective const& collective, Algorithm algorithm,
                                           ParticipantLayout const& layout) {
  std::vector<TransferSchedule> all;
  auto const add = [&](std::optional<TransferSchedule> moves) {
    if (moves) all.push_back(std::move(*moves));
  };
  switch (algorithm) {
    case Algorithm::Direct:
      add(direct(collective, layout));
      add(in_one_step(collective));
      break;
    case Algorithm::Ring: add(ring(collective, layout)); break;
    case Algorithm::Tree: add(tree(collective, layout)); break;
    case Algorithm::HalvingDoubling: add(halving_doubling(collective)); break;
    case Algorithm::Hierarchical: all = hierarchical_schedules(collective, layout); break;
    case Algorithm::ThroughHost:
      for (auto const& hosting : kHostings) add(through_host(collective, layout, hosting));
      break;
    case Algorithm::PackedTrees:
      if (layout.packing) add(packed_schedule(collective, *layout.packing, layout.near.size(), layout.chunks));
      break;
    case Algorithm::Auto: break;
  }
  return all;
}

}  // namespace lanewise
