#include "core/planner/collectives/transfer_schedule.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace lanewise {
namespace {

// The cells of `count` parts from `first` on.
Chunks joined(std::span<Chunks const> part, std::size_t first, std::size_t count) {
  Chunks all;
  for (auto const& cells : part.subspan(first, count)) all.insert(all.end(), cells.begin(), cells.end());
  std::sort(all.begin(), all.end());
  return all;
}

// The edges of a binary tree over [begin, end), its root in the middle: children before parents.
void tree_edges(std::size_t begin, std::size_t end, std::vector<std::pair<std::size_t, std::size_t>>& edges) {
  if (end - begin < 2) return;
  auto const root = begin + (end - begin) / 2;
  for (auto const& [first, last] : {std::pair(begin, root), std::pair(root + 1, end)}) {
    if (first >= last) continue;
    tree_edges(first, last, edges);
    edges.emplace_back(first + (last - first) / 2, root);
  }
}

}  // namespace

Bytes TransferSchedule::whole_elements(double below) {
  constexpr std::int64_t kElement = 16;
  return Bytes(static_cast<std::int64_t>(below) / kElement * kElement);
}

Bytes TransferSchedule::begin_of(std::size_t cell) const {
  if (cell >= cells_) return bytes_;
  if (!begins_.empty()) return begins_[cell];
  return whole_elements(static_cast<double>(bytes_.value()) * static_cast<double>(cell) / static_cast<double>(cells_));
}

void TransferSchedule::reads(Use& use, Transfer& move, std::uint32_t id) const {
  if (use.written != kNone) move.after.push_back(use.written);
  use.readers.push_back(id);
}

void TransferSchedule::writes(Use& use, Transfer& move, std::uint32_t id) {
  if (use.written != kNone) move.after.push_back(use.written);
  move.after.insert(move.after.end(), use.readers.begin(), use.readers.end());
  use.readers.clear();
  use.written = id;
}

void TransferSchedule::finish(Transfer move) {
  std::sort(move.after.begin(), move.after.end());
  move.after.erase(std::unique(move.after.begin(), move.after.end()), move.after.end());
  list_.push_back(std::move(move));
}

void TransferSchedule::wait_for(Transfer& move, std::uint32_t before) {
  auto const place = std::lower_bound(move.after.begin(), move.after.end(), before);
  if (place == move.after.end() || *place != before) move.after.insert(place, before);
}

void TransferSchedule::send(std::size_t from, std::size_t to, Chunks const& cells, bool reduces,
                            std::optional<std::uint32_t> leg) {
  for (std::size_t i = 0; i < cells.size();) {
    auto end = i + 1;
    while (end < cells.size() && cells[end] == cells[end - 1] + 1) ++end;
    Transfer move;
    move.from = static_cast<std::uint32_t>(from);
    move.to = static_cast<std::uint32_t>(to);
    move.read_at = move.write_at = begin_of(cells[i]);
    move.bytes = begin_of(cells[end - 1] + 1) - move.read_at;
    move.reduces = reduces;
    move.leg = leg;
    auto const id = static_cast<std::uint32_t>(list_.size());
    if (move.bytes > Bytes(0)) {
      for (auto k = i; k < end; ++k) {
        reads(data_[from * cells_ + cells[k]], move, id);
        writes(data_[to * cells_ + cells[k]], move, id);
      }
      finish(std::move(move));
    }
    i = end;
  }
}

void TransferSchedule::send_to_output(std::size_t from, std::size_t to, std::uint32_t cell, std::uint32_t as,
                                      bool reduces) {
  if (output_.empty()) output_.resize(participants_ * cells_);
  Transfer move;
  move.from = static_cast<std::uint32_t>(from);
  move.to = static_cast<std::uint32_t>(to);
  move.writes = BufferRole::Output;
  move.read_at = begin_of(cell);
  move.write_at = begin_of(as);
  move.bytes = std::min(begin_of(cell + 1) - move.read_at, begin_of(as + 1) - move.write_at);
  move.reduces = reduces;
  if (move.bytes == Bytes(0)) return;
  auto const id = static_cast<std::uint32_t>(list_.size());
  reads(data_[from * cells_ + cell], move, id);
  writes(output_[to * cells_ + as], move, id);
  finish(std::move(move));
}

void TransferSchedule::send_block_to_output(std::size_t from, std::size_t to, Bytes read_at, Bytes write_at,
                                            Bytes bytes) {
  if (bytes == Bytes(0)) return;
  Transfer move;
  move.from = static_cast<std::uint32_t>(from);
  move.to = static_cast<std::uint32_t>(to);
  move.writes = BufferRole::Output;
  move.read_at = read_at;
  move.write_at = write_at;
  move.bytes = bytes;
  finish(std::move(move));
}

void TransferSchedule::serialise_per_link(std::size_t first) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::optional<std::uint32_t>>, std::uint32_t> last;
  for (auto id = static_cast<std::uint32_t>(first); id < list_.size(); ++id) {
    auto& move = list_[id];
    auto const [entry, fresh] = last.try_emplace({move.from, move.to, move.leg}, id);
    if (!fresh) wait_for(move, std::exchange(entry->second, id));
  }
}

void TransferSchedule::limit_outstanding(std::size_t width, std::vector<std::vector<std::size_t>> const& groups) {
  std::vector<std::size_t> group(participants_);
  std::iota(group.begin(), group.end(), groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (auto const member : groups[g]) group[member] = g;
  enum Reach : std::uint8_t { kWithin, kOut, kReaches };
  std::vector<std::array<std::vector<std::uint32_t>, kReaches>> sent(participants_);
  for (std::uint32_t id = 0; id < list_.size(); ++id) {
    auto& move = list_[id];
    auto& own = sent[move.reduces ? move.to : move.from][group[move.from] == group[move.to] ? kWithin : kOut];
    if (own.size() >= width) wait_for(move, own[own.size() - width]);
    own.push_back(id);
  }
}

void TransferSchedule::chain_after(std::size_t first, std::size_t begin, std::size_t end) {
  std::vector<std::uint32_t> last(participants_, kNone);
  for (auto id = begin; id < end; ++id) last[list_[id].from] = static_cast<std::uint32_t>(id);
  for (auto id = first; id < list_.size(); ++id)
    if (last[list_[id].from] != kNone) wait_for(list_[id], last[list_[id].from]);
}

// Position i sends on what its predecessor's predecessors began, so that the last step ends at the owner.
void ring_reduce_scatter(TransferSchedule& moves, std::span<std::size_t const> who, std::span<Chunks const> part) {
  auto const n = who.size();
  for (std::size_t step = 0; step + 1 < n; ++step)
    for (std::size_t i = 0; i < n; ++i) moves.send(who[i], who[(i + 1) % n], part[(i + 2 * n - step - 1) % n], true);
}

void ring_all_gather(TransferSchedule& moves, std::span<std::size_t const> who, std::span<Chunks const> part) {
  auto const n = who.size();
  for (std::size_t step = 0; step + 1 < n; ++step)
    for (std::size_t i = 0; i < n; ++i) moves.send(who[i], who[(i + 1) % n], part[(i + n - step) % n], false);
}

void direct_reduce_scatter(TransferSchedule& moves, std::span<std::size_t const> who, std::span<Chunks const> part) {
  auto const n = who.size();
  for (std::size_t step = 1; step < n; ++step)
    for (std::size_t i = 0; i < n; ++i) moves.send(who[i], who[(i + step) % n], part[(i + step) % n], true);
}

void direct_all_gather(TransferSchedule& moves, std::span<std::size_t const> who, std::span<Chunks const> part) {
  auto const n = who.size();
  for (std::size_t step = 1; step < n; ++step)
    for (std::size_t i = 0; i < n; ++i) moves.send(who[i], who[(i + step) % n], part[i], false);
}

void recursive_halving_reduce_scatter(TransferSchedule& moves, std::span<std::size_t const> who,
                                      std::span<Chunks const> part) {
  auto const n = who.size();
  for (auto distance = n / 2; distance > 0; distance /= 2)
    for (std::size_t i = 0; i < n; ++i) {
      // The partner keeps the half that it is in: of each block of `distance`, the one with its own number.
      auto const partner = i ^ distance;
      auto const first = partner / distance * distance;
      moves.send(who[i], who[partner], joined(part, first, distance), true);
    }
}

void recursive_doubling_all_gather(TransferSchedule& moves, std::span<std::size_t const> who,
                                   std::span<Chunks const> part) {
  auto const n = who.size();
  for (std::size_t distance = 1; distance < n; distance *= 2)
    for (std::size_t i = 0; i < n; ++i) {
      auto const first = i / distance * distance;
      moves.send(who[i], who[i ^ distance], joined(part, first, distance), false);
    }
}

void tree_reduce(TransferSchedule& moves, std::span<std::size_t const> who, Chunks const& cells) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  tree_edges(0, who.size(), edges);
  for (auto const cell : cells)
    for (auto const& [child, parent] : edges) moves.send(who[child], who[parent], {cell}, true);
}

void tree_broadcast(TransferSchedule& moves, std::span<std::size_t const> who, Chunks const& cells) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  tree_edges(0, who.size(), edges);
  for (auto const cell : cells)
    for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge)
      moves.send(who[edge->second], who[edge->first], {cell}, false);
}

void chain_broadcast(TransferSchedule& moves, std::span<std::size_t const> who, Chunks const& cells) {
  for (auto const cell : cells)
    for (std::size_t i = 0; i + 1 < who.size(); ++i) moves.send(who[i], who[i + 1], {cell}, false);
}

}  // namespace lanewise
