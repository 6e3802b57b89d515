#include "core/planner/collectives/trees/packed_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "core/planner/collectives/trees/list_scheduler.hpp"

namespace lanewise {
namespace {

// One piece of what a packed tree carries.
struct SentPiece {
  PackedTree const* tree = nullptr;
  double begin = 0;  // as shares of its root's part
  double share = 0;
  double when = 0;  // all trees at the same pace, from 0 to 1
};

// The trees of one root with their shares of its part, in `count` pieces together; whole where nobody passes them on.
std::vector<SentPiece> pieces_of(Packing const& packing, std::size_t root, std::size_t count) {
  constexpr double kSmallest = 0.04;  // of the largest tree; less is left out, as a division of sets drops it
  double largest = 0;
  for (auto const& tree : packing.trees)
    if (tree.root == root) largest = std::max(largest, tree.bytes);
  double kept = 0;
  std::vector<PackedTree const*> trees;
  for (auto const& tree : packing.trees) {
    if (tree.root != root || tree.bytes < kSmallest * largest) continue;
    kept += tree.bytes;
    trees.push_back(&tree);
  }
  std::vector<SentPiece> pieces;
  double begin = 0;
  for (auto const* tree : trees) {
    auto const share = tree->bytes / kept;
    bool const goes_on = std::any_of(tree->legs.begin(), tree->legs.end(),
                                     [&](std::uint32_t leg) { return packing.legs[leg].from != root; });
    auto const own = goes_on ? std::max<std::int64_t>(1, std::llround(share * static_cast<double>(count))) : 1;
    auto const each = share / static_cast<double>(own);
    for (std::int64_t k = 0; k < own; ++k) {
      auto const place = static_cast<double>(k);
      pieces.push_back({tree, begin + each * place, each, (place + 0.5) / static_cast<double>(own)});
    }
    begin += share;
  }
  return pieces;
}

// Adds the hops of a piece of so many bytes; `pieces` of its root.
void add_hops(std::vector<ScheduledHop>& hops, Packing const& packing, SentPiece const& piece, std::uint32_t cell,
              double bytes, double pieces) {
  struct Reached {
    double turn = 0;  // hops to here, and those that have gone on from here since
    std::optional<std::size_t> by;
  };
  std::map<std::uint32_t, Reached> reached;
  auto const first = hops.size();
  for (auto const id : piece.tree->legs) {
    auto const& leg = packing.legs[id];
    auto& before = reached[leg.from];
    auto const turn = before.turn++;  // whoever is served second goes on later
    hops.push_back(
        {.cell = cell, .leg = id, .bytes = bytes, .paced = piece.when * pieces + turn, .brought = before.by});
    reached[leg.to] = {turn + 1, hops.size() - 1};
  }
  for (auto i = hops.size(); i-- > first;)
    if (auto const& hop = hops[i]; hop.brought)
      hops[*hop.brought].ahead = std::max(hops[*hop.brought].ahead, hop.ahead + 1);
}

}  // namespace

TransferSchedule packed_schedule(Collective const& collective, Packing const& packing, std::size_t memories,
                                 std::size_t pieces) {
  auto const n = collective.among.size();
  bool const broadcast = collective.op == CollectiveOp::Broadcast;
  auto const bytes = static_cast<double>(collective.bytes.value());
  auto const parts = broadcast ? 1.0 : static_cast<double>(n);
  std::vector<Bytes> begins;
  std::vector<ScheduledHop> hops;
  for (std::size_t root = 0; root < n; ++root) {
    if (broadcast && root != collective.root) continue;
    for (auto const& piece : pieces_of(packing, root, pieces)) {
      add_hops(hops, packing, piece, static_cast<std::uint32_t>(begins.size()), bytes * piece.share / parts,
               static_cast<double>(pieces));
      auto const before = broadcast ? 0.0 : static_cast<double>(root);
      begins.push_back(
          TransferSchedule::whole_elements(bytes * (before + piece.begin) / parts));  // exact where a part begins
    }
  }
  TransferSchedule moves(n + memories, collective.bytes, std::move(begins));
  for (auto const& hop : list_schedule(packing, std::move(hops))) {
    auto const& leg = packing.legs[hop.leg];
    Chunks cells(hop.cells);
    std::iota(cells.begin(), cells.end(), hop.cell);
    moves.send(leg.from, leg.to, cells, false, hop.leg);
  }
  moves.serialise_per_link();
  return moves;
}

}  // namespace lanewise
