#include "core/planner/collectives/algorithms/packed_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "core/planner/collective_limits.hpp"
#include "core/planner/collectives/trees/list_scheduler.hpp"

namespace lanewise {
namespace {

// A part of what one tree carries; offset and size are fractions of its root's part.
struct TreePiece {
  PackedTree const* tree = nullptr;
  double offset = 0;
  double size = 0;
  double due = 0;  // 0 to 1: when it is sent if all trees progress at the same pace
};

// The root's part in about `count` pieces. Trees that nobody forwards carry theirs whole, small trees are left out.
std::vector<TreePiece> pieces_of(Packing const& packing, std::size_t root, std::size_t count) {
  double largest = 0;
  for (auto const& tree : packing.trees)
    if (tree.root == root) largest = std::max(largest, tree.bytes);
  double kept = 0;
  std::vector<PackedTree const*> trees;
  for (auto const& tree : packing.trees) {
    if (tree.root != root || tree.bytes < kCollectiveLimits.packing_min_tree * largest) continue;
    kept += tree.bytes;
    trees.push_back(&tree);
  }
  std::vector<TreePiece> pieces;
  double offset = 0;
  for (auto const* tree : trees) {
    auto const share = tree->bytes / kept;
    bool const is_forwarded = std::any_of(tree->legs.begin(), tree->legs.end(),
                                          [&](std::uint32_t leg) { return packing.legs[leg].from != root; });
    auto const own = is_forwarded ? std::max<std::int64_t>(1, std::llround(share * static_cast<double>(count))) : 1;
    auto const size = share / static_cast<double>(own);
    for (std::int64_t k = 0; k < own; ++k) {
      auto const number = static_cast<double>(k);
      pieces.push_back({tree, offset + size * number, size, (number + 0.5) / static_cast<double>(own)});
    }
    offset += share;
  }
  return pieces;
}

// Appends the hops of a piece of `bytes`; `pieces` is the number of pieces of its root.
void append_hops(std::vector<ScheduledHop>& hops, Packing const& packing, TreePiece const& piece, std::uint32_t chunk,
                 double bytes, double pieces) {
  struct Arrival {
    double next_due = 0;  // hops on the path to here, plus those that have left from here already
    std::optional<std::size_t> hop;
  };
  std::map<std::uint32_t, Arrival> arrivals;
  auto const first = hops.size();
  for (auto const id : piece.tree->legs) {
    auto const& leg = packing.legs[id];
    auto& arrival = arrivals[leg.from];
    auto const due = arrival.next_due++;  // the second child is served one hop later
    hops.push_back(
        {.chunk = chunk, .leg = id, .bytes = bytes, .due = piece.due * pieces + due, .predecessor = arrival.hop});
    arrivals[leg.to] = {due + 1, hops.size() - 1};
  }
  for (auto i = hops.size(); i-- > first;)
    if (auto const& hop = hops[i]; hop.predecessor)
      hops[*hop.predecessor].remaining_hops = std::max(hops[*hop.predecessor].remaining_hops, hop.remaining_hops + 1);
}

}  // namespace

TransferSchedule packed_schedule(Collective const& collective, Packing const& packing, std::size_t memories,
                                 std::size_t pieces) {
  auto const n = collective.among.size();
  bool const broadcast = collective.op == CollectiveOp::Broadcast;
  auto const bytes = static_cast<double>(collective.bytes.value());
  auto const parts = broadcast ? 1.0 : static_cast<double>(n);
  std::vector<Bytes> offsets;
  std::vector<ScheduledHop> hops;
  for (std::size_t root = 0; root < n; ++root) {
    if (broadcast && root != collective.root) continue;
    for (auto const& piece : pieces_of(packing, root, pieces)) {
      append_hops(hops, packing, piece, static_cast<std::uint32_t>(offsets.size()), bytes * piece.size / parts,
                  static_cast<double>(pieces));
      auto const part = broadcast ? 0.0 : static_cast<double>(root);
      // In this order of arithmetic the first piece begins exactly where its root's part begins.
      offsets.push_back(TransferSchedule::whole_elements(bytes * (part + piece.offset) / parts));
    }
  }
  TransferSchedule schedule(n + memories, collective.bytes, std::move(offsets));
  for (auto const& hop : list_schedule(packing, std::move(hops))) {
    auto const& leg = packing.legs[hop.leg];
    Chunks chunks(hop.chunks);
    std::iota(chunks.begin(), chunks.end(), hop.chunk);
    schedule.send(leg.from, leg.to, chunks, false, hop.leg);
  }
  schedule.serialise_per_link();
  return schedule;
}

}  // namespace lanewise
