#include "core/planner/collectives/packed_moves.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <queue>

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

// A piece on one leg of its tree.
struct SentHop {
  std::uint32_t cell = 0;
  std::uint32_t leg = 0;
  double paced = 0;                    // when it would go if nobody waited: in pieces
  Seconds takes{0};                    // with the leg to itself
  std::optional<std::size_t> brought;  // by this hop
  double ahead = 0;                    // hops that the piece has to go after this one
  Seconds start{0};
};

class Hops {
 public:
  explicit Hops(Packing const& packing) : packing_(packing) {}

  // `bytes` of the piece; `pieces` of its root.
  void add(SentPiece const& piece, std::uint32_t cell, double bytes, double pieces) {
    struct Reached {
      double turn = 0;  // hops to here, and those that have gone on from here since
      std::optional<std::size_t> by;
    };
    std::map<std::uint32_t, Reached> reached;
    auto const first = list_.size();
    for (auto const id : piece.tree->legs) {
      auto const& leg = packing_.legs[id];
      auto& before = reached[leg.from];
      auto const turn = before.turn++;  // whoever is served second goes on later
      list_.push_back({.cell = cell,
                       .leg = id,
                       .paced = piece.when * pieces + turn,
                       .takes = Seconds(bytes / leg.rate.value()),
                       .brought = before.by});
      reached[leg.to] = {turn + 1, list_.size() - 1};
    }
    for (auto i = list_.size(); i-- > first;)
      if (auto const& hop = list_[i]; hop.brought)
        list_[*hop.brought].ahead = std::max(list_[*hop.brought].ahead, hop.ahead + 1);
  }

  // In the order in which they start where each leg carries one piece at a time and is never idle while a piece is
  // there for it: the one whose turn it is, but rather one that has far to go. (With the turns alone legs wait for
  // pieces that are not there yet: on a mesh of NVLink all took 10 to 20 % longer.)
  std::vector<SentHop> in_order() && {
    waiting_.resize(packing_.legs.size());
    carries_.assign(packing_.legs.size(), false);
    std::vector<std::vector<std::size_t>> next(list_.size());
    for (std::size_t i = 0; i < list_.size(); ++i)
      (list_[i].brought ? next[*list_[i].brought] : waiting_[list_[i].leg]).push_back(i);
    for (std::uint32_t leg = 0; leg < packing_.legs.size(); ++leg) start_on(leg, Seconds(0));
    while (!ends_.empty()) {
      auto const [now, ended] = ends_.top();
      ends_.pop();
      carries_[list_[ended].leg] = false;
      for (auto const i : next[ended]) waiting_[list_[i].leg].push_back(i);
      for (auto const i : next[ended]) start_on(list_[i].leg, now);
      start_on(list_[ended].leg, now);
    }
    std::stable_sort(list_.begin(), list_.end(), [](SentHop const& a, SentHop const& b) { return a.start < b.start; });
    return std::move(list_);
  }

 private:
  void start_on(std::uint32_t leg, Seconds now) {
    auto& waiting = waiting_[leg];
    if (carries_[leg] || waiting.empty()) return;
    // Of 0 to 5 turns for a hop the one with the shortest plans on the bundled machines.
    constexpr double kTurnsOfAHop = 2;
    auto const turn = [&](std::size_t i) { return list_[i].paced - kTurnsOfAHop * list_[i].ahead; };
    auto const first = std::min_element(waiting.begin(), waiting.end(),
                                        [&](std::size_t a, std::size_t b) { return turn(a) < turn(b); });
    auto& hop = list_[*first];
    hop.start = now;
    ends_.emplace(now + hop.takes, *first);
    carries_[leg] = true;
    waiting.erase(first);
  }

  Packing const& packing_;
  std::vector<SentHop> list_;
  std::vector<std::vector<std::size_t>> waiting_;  // of legs
  std::vector<bool> carries_;                      // of legs: a piece is under way
  using End = std::pair<Seconds, std::size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

Moves packed_moves(Collective const& collective, Packing const& packing, std::size_t memories, std::size_t pieces) {
  auto const n = collective.among.size();
  bool const broadcast = collective.op == CollectiveOp::Broadcast;
  auto const bytes = static_cast<double>(collective.bytes.value());
  auto const parts = broadcast ? 1.0 : static_cast<double>(n);
  std::vector<Bytes> begins;
  Hops hops(packing);
  for (std::size_t root = 0; root < n; ++root) {
    if (broadcast && root != collective.root) continue;
    for (auto const& piece : pieces_of(packing, root, pieces)) {
      hops.add(piece, static_cast<std::uint32_t>(begins.size()), bytes * piece.share / parts,
               static_cast<double>(pieces));
      auto const before = broadcast ? 0.0 : static_cast<double>(root);
      begins.push_back(Moves::whole_elements(bytes * (before + piece.begin) / parts));  // exact where a part begins
    }
  }
  Moves moves(n + memories, collective.bytes, std::move(begins));
  for (auto const& hop : std::move(hops).in_order()) {
    auto const& leg = packing.legs[hop.leg];
    moves.carry(leg.from, leg.to, {hop.cell}, false, hop.leg);
  }
  moves.one_behind_the_other();
  return moves;
}

}  // namespace lanewise
