#include "core/planner/collectives/algorithms/algorithms.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

#include "core/planner/collective_limits.hpp"
#include "core/planner/collectives/algorithms/hierarchical.hpp"
#include "core/planner/collectives/algorithms/packed_schedule.hpp"
#include "core/planner/collectives/algorithms/pairing_schedule.hpp"
#include "core/planner/collectives/algorithms/patterns.hpp"
#include "core/planner/collectives/algorithms/through_host.hpp"

namespace lanewise {
namespace {

// An all_to_all_v. Row i of the sizes is contiguous at sender i, column j at receiver j.
TransferSchedule uneven_all_to_all(Collective const& collective, ParticipantLayout const& layout) {
  auto const n = collective.among.size();
  auto const& sizes = collective.sizes;
  TransferSchedule schedule(n, collective.bytes, 1);
  std::vector<std::vector<Bytes>> read_at(n, std::vector<Bytes>(n));
  auto write_at = read_at;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 1; j < n; ++j) {
      read_at[i][j] = read_at[i][j - 1] + sizes[i][j - 1];
      write_at[j][i] = write_at[j - 1][i] + sizes[j - 1][i];
    }
  PairingSchedule const pairs(n, layout.groups);
  for (std::size_t round = 0; round < n; ++round)
    for (std::size_t i = 0; i < n; ++i) {
      auto const other = pairs.receiver(i, round);
      schedule.send_block_to_output(i, other, read_at[i][other], write_at[i][other], sizes[i][other]);
    }
  if (n > kCollectiveLimits.unlimited_outstanding_max_participants)
    schedule.limit_outstanding(kCollectiveLimits.max_outstanding, pairs.groups());
  return schedule;
}

std::optional<TransferSchedule> direct(Collective const& collective, ParticipantLayout const& layout) {
  if (collective.op == CollectiveOp::Chain) return std::nullopt;
  if (collective.op == CollectiveOp::AllToAllV) return uneven_all_to_all(collective, layout);
  auto const n = collective.among.size();
  auto const ranks = all_ranks(n);
  TransferSchedule schedule(n, collective.bytes, n);
  auto const parts = parts_of(ranks, 1);
  if (has_reduce_scatter(collective.op)) direct_reduce_scatter(schedule, ranks, parts);
  if (has_all_gather(collective.op)) direct_all_gather(schedule, ranks, parts);
  PairingSchedule const pairs(n, layout.groups);
  for (std::size_t round = 0; round < n; ++round)
    for (std::size_t i = 0; i < n; ++i) {
      auto const other = pairs.receiver(i, round);
      if (collective.op == CollectiveOp::AllToAll)
        schedule.send_to_output(i, other, static_cast<std::uint32_t>(other), static_cast<std::uint32_t>(i), false);
      if (round == 0) continue;
      if (collective.op == CollectiveOp::Scatter && i == collective.root) schedule.send(i, other, parts[other], false);
      if (collective.op == CollectiveOp::Gather && other == collective.root) schedule.send(i, other, parts[i], false);
      if (collective.op == CollectiveOp::Broadcast && i == collective.root)
        for (auto const& chunks : parts) schedule.send(i, other, chunks, false);
    }
  bool const is_paired = !has_reduce_scatter(collective.op) && !has_all_gather(collective.op);
  if (n > kCollectiveLimits.unlimited_outstanding_max_participants)
    schedule.limit_outstanding(kCollectiveLimits.max_outstanding,
                               is_paired ? pairs.groups() : decltype(layout.groups){});
  return schedule;
}

// Chunks of one size but the last: many are sent side by side, and ones that end some bytes apart would overtake.
TransferSchedule in_equal_chunks(Collective const& collective, std::size_t chunks) {
  auto const each = static_cast<double>(collective.bytes.value()) / static_cast<double>(chunks);
  auto const size = TransferSchedule::whole_elements(each + 16);
  std::vector<Bytes> offsets;
  for (std::size_t c = 0; c < chunks; ++c)
    offsets.push_back(std::min(size * static_cast<std::int64_t>(c), collective.bytes));
  return {collective.among.size(), collective.bytes, std::move(offsets)};
}

// The root sends another piece to each, and each sends its own to all others: where NVLink or xGMI joins every two,
// nobody sends more than the root. In several chunks, so that forwarding begins early.
std::optional<TransferSchedule> scattered_broadcast(Collective const& collective, ParticipantLayout const& layout) {
  bool const joined = layout.groups.empty() || layout.is_one_mesh();  // no groups: an NVSwitch joins all
  auto const n = collective.among.size();
  if (collective.op != CollectiveOp::Broadcast || !joined || n < 3) return std::nullopt;
  auto const chunks = (n - 1) * layout.pipeline_chunks;
  auto schedule = in_equal_chunks(collective, chunks);
  for (std::uint32_t c = 0; c < chunks; ++c) {
    auto const owner = 1 + c % (n - 1);
    schedule.send(collective.root, (collective.root + owner) % n, {c}, false);
    for (std::size_t distance = 1; distance + 1 < n; ++distance) {
      auto const other = 1 + (owner - 1 + distance) % (n - 1);
      schedule.send((collective.root + owner) % n, (collective.root + other) % n, {c}, false);
    }
  }
  schedule.serialise_per_link();
  return schedule;
}

// A reduce_scatter over a full mesh from all others at once, with the all_gather of an all_reduce. What a participant
// adds up is divided into as many pieces as it has partners. Nullopt elsewhere.
std::optional<TransferSchedule> over_mesh(Collective const& collective, ParticipantLayout const& layout) {
  if (!layout.is_one_mesh() || !has_reduce_scatter(collective.op)) return std::nullopt;
  auto const n = collective.among.size();
  auto const ranks = all_ranks(n);
  TransferSchedule schedule(n, collective.bytes, n * (n - 1));
  std::vector<std::vector<Chunks>> pieces;
  for (std::size_t piece = 0; piece + 1 < n; ++piece) pieces.push_back(parts_of(ranks, n - 1, piece, n - 1));
  mesh_reduce_scatter(schedule, ranks, pieces);
  schedule.serialise_per_link();
  if (has_all_gather(collective.op)) direct_all_gather(schedule, ranks, parts_of(ranks, n - 1));
  return schedule;
}

// The all_reduce in one step: everyone adds up everything that the others have in its output. n/2 times the traffic of
// the two steps, but nobody waits for anybody. Nullopt for other collectives.
std::optional<TransferSchedule> one_step_all_reduce(Collective const& collective) {
  if (collective.op != CollectiveOp::AllReduce) return std::nullopt;
  auto const n = collective.among.size();
  TransferSchedule schedule(n, collective.bytes, 1);
  for (std::size_t round = 0; round < n; ++round)
    for (std::size_t i = 0; i < n; ++i) schedule.send_to_output((i + round) % n, i, 0, 0, round > 0);
  return schedule;
}

TransferSchedule pipelined_chain(Collective const& collective) {
  auto const n = collective.among.size();
  TransferSchedule schedule(n, collective.bytes, collective.pieces);
  Chunks all(collective.pieces);
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  chain_broadcast(schedule, all_ranks(n), all);
  schedule.serialise_per_link();
  return schedule;
}

TransferSchedule ring_broadcast(Collective const& collective, ParticipantLayout const& layout) {
  auto const rings = layout.rings.size();
  auto const chunks = std::max(rings, layout.pipeline_chunks);
  TransferSchedule schedule(collective.among.size(), collective.bytes, chunks);
  for (std::size_t r = 0; r < rings; ++r) {
    auto order = layout.rings[r];
    std::rotate(order.begin(), std::find(order.begin(), order.end(), collective.root), order.end());
    Chunks own;
    for (auto c = r; c < chunks; c += rings) own.push_back(static_cast<std::uint32_t>(c));
    chain_broadcast(schedule, order, own);
  }
  schedule.serialise_per_link();
  return schedule;
}

std::optional<TransferSchedule> ring(Collective const& collective, ParticipantLayout const& layout) {
  if (collective.op == CollectiveOp::Chain) return pipelined_chain(collective);
  if (collective.op == CollectiveOp::Broadcast) return ring_broadcast(collective, layout);
  if (!has_reduce_scatter(collective.op) && !has_all_gather(collective.op)) return std::nullopt;
  auto const n = collective.among.size();
  auto const rings = layout.rings.size();
  TransferSchedule schedule(n, collective.bytes, n * rings);
  for (std::size_t r = 0; r < rings; ++r) {
    auto const& order = layout.rings[r];
    auto const parts = parts_of(order, rings, r, rings);
    auto const first = schedule.transfers().size();
    if (has_reduce_scatter(collective.op)) ring_reduce_scatter(schedule, order, parts);
    if (has_all_gather(collective.op)) ring_all_gather(schedule, order, parts);
    // A transfer that shares its link with the one before it would delay everyone further along the ring.
    schedule.serialise_per_link(first);
  }
  return schedule;
}

// Two binary trees, the second shifted by one place, so that most leaves of one tree are inner nodes of the other
// (Sanders, Speck and Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009).
std::optional<TransferSchedule> two_trees(Collective const& collective, ParticipantLayout const& layout) {
  auto const n = collective.among.size();
  bool const broadcast = collective.op == CollectiveOp::Broadcast;
  if (!broadcast && collective.op != CollectiveOp::AllReduce) return std::nullopt;
  auto const chunks = 2 * layout.pipeline_chunks;
  TransferSchedule schedule(n, collective.bytes, chunks);
  std::vector<std::vector<std::size_t>> trees;
  for (std::size_t t = 0; t < 2; ++t) {
    auto ranks = all_ranks(n);
    std::rotate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(t % n), ranks.end());
    // The root of a broadcast is the root of both trees, which is the middle rank.
    if (broadcast) {
      auto const root = std::find(ranks.begin(), ranks.end(), collective.root);
      std::iter_swap(root, ranks.begin() + static_cast<std::ptrdiff_t>(n / 2));
    }
    trees.push_back(std::move(ranks));
  }
  // Chunks alternate between the trees, so that neither tree waits for the other to finish.
  for (std::uint32_t c = 0; c < chunks && !broadcast; ++c) tree_reduce(schedule, trees[c % 2], {c});
  for (std::uint32_t c = 0; c < chunks; ++c) tree_broadcast(schedule, trees[c % 2], {c});
  return schedule;
}

// A broadcast along two trees whose root has one child in each: one step deeper, but it sends each byte once.
std::optional<TransferSchedule> two_trees_below_the_root(Collective const& collective,
                                                         ParticipantLayout const& layout) {
  if (collective.op != CollectiveOp::Broadcast || layout.pipeline_chunks < 2) return std::nullopt;
  auto ranks = all_ranks(collective.among.size());
  std::rotate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(collective.root), ranks.end());
  Chunks chunks(2 * layout.pipeline_chunks);
  std::iota(chunks.begin(), chunks.end(), 0);
  TransferSchedule schedule(ranks.size(), collective.bytes, chunks.size());
  two_tree_broadcast(schedule, ranks, chunks);
  return schedule;
}

std::optional<TransferSchedule> halving_doubling(Collective const& collective) {
  auto const n = collective.among.size();
  if (!std::has_single_bit(n) || (!has_reduce_scatter(collective.op) && !has_all_gather(collective.op)))
    return std::nullopt;
  auto const ranks = all_ranks(n);
  auto const parts = parts_of(ranks, 1);
  TransferSchedule schedule(n, collective.bytes, n);
  if (has_reduce_scatter(collective.op)) recursive_halving_reduce_scatter(schedule, ranks, parts);
  if (has_all_gather(collective.op)) recursive_doubling_all_gather(schedule, ranks, parts);
  return schedule;
}

// A reduction to a root where NVLink or xGMI joins every two: each of the others adds up another part, and the root
// adds what each has. In slices, so that the root begins early; over a mesh in as many pieces as each has partners, as
// over_mesh() does.
std::optional<TransferSchedule> gathered_reduction(Collective const& collective, ParticipantLayout const& layout) {
  bool const joined = layout.groups.empty() || layout.is_one_mesh();
  auto const n = collective.among.size();
  if (!joined || n < 3) return std::nullopt;
  auto others = all_ranks(n);
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(collective.root));
  auto const parts = others.size();
  auto const pieces = layout.groups.empty() ? 1 : parts - 1;  // NVSwitch: a GPU's port is full with one
  auto const slices = layout.pipeline_chunks;
  auto schedule = in_equal_chunks(collective, slices * parts * pieces);
  for (std::size_t slice = 0; slice < slices; ++slice) {
    // By piece, of the part that each of the others adds up.
    std::vector<std::vector<Chunks>> all(pieces);
    for (std::size_t k = 0; k < pieces; ++k)
      for (std::size_t i = 0; i < parts; ++i)
        all[k].push_back({static_cast<std::uint32_t>((slice * parts + i) * pieces + k)});
    mesh_reduce_scatter(schedule, others, all);
    for (auto const& piece : all)
      for (std::size_t i = 0; i < parts; ++i) schedule.send(others[i], collective.root, piece[i], true);
  }
  schedule.serialise_per_link();
  return schedule;
}

// A reduction to a root is a broadcast from it in reverse, by the algorithms that pass through no other memory.
std::vector<TransferSchedule> reductions(Collective broadcast, Algorithm algorithm, ParticipantLayout const& layout) {
  std::vector<TransferSchedule> all;
  if (algorithm == Algorithm::ThroughHost || algorithm == Algorithm::PackedTrees) return all;
  broadcast.op = CollectiveOp::Broadcast;
  for (auto const& schedule : schedules_of(broadcast, algorithm, layout)) {
    all.push_back(schedule.reversed_as_reduction());
    if (algorithm == Algorithm::Direct) break;  // in reverse, an owner of a piece would add from one other at a time
  }
  if (algorithm == Algorithm::Direct)
    if (auto gathered = gathered_reduction(broadcast, layout)) all.push_back(std::move(*gathered));
  return all;
}

}  // namespace

std::vector<Chunks> parts_of(std::vector<std::size_t> const& ranks, std::size_t chunks_each, std::size_t ring,
                             std::size_t rings) {
  std::vector<Chunks> parts;
  for (auto const p : ranks) {
    auto& chunks = parts.emplace_back();
    for (auto k = ring; k < chunks_each; k += rings) chunks.push_back(static_cast<std::uint32_t>(p * chunks_each + k));
  }
  return parts;
}

std::vector<std::size_t> all_ranks(std::size_t count) {
  std::vector<std::size_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  return ranks;
}

std::vector<TransferSchedule> schedules_of(Collective const& collective, Algorithm algorithm,
                                           ParticipantLayout const& layout) {
  if (collective.op == CollectiveOp::Reduce) return reductions(collective, algorithm, layout);
  std::vector<TransferSchedule> all;
  auto const add = [&](std::optional<TransferSchedule> schedule) {
    if (schedule) all.push_back(std::move(*schedule));
  };
  switch (algorithm) {
    case Algorithm::Direct:
      add(direct(collective, layout));
      add(over_mesh(collective, layout));
      add(scattered_broadcast(collective, layout));
      add(one_step_all_reduce(collective));
      break;
    case Algorithm::Ring: add(ring(collective, layout)); break;
    case Algorithm::Tree:
      add(two_trees(collective, layout));
      add(two_trees_below_the_root(collective, layout));
      break;
    case Algorithm::HalvingDoubling: add(halving_doubling(collective)); break;
    case Algorithm::Hierarchical: return hierarchical_schedules(collective, layout);
    case Algorithm::ThroughHost: return through_host_schedules(collective, layout);
    case Algorithm::PackedTrees:
      if (layout.packing)
        add(packed_schedule(collective, *layout.packing, layout.near_memories.size(), layout.pipeline_chunks));
      break;
    case Algorithm::TransferSet:
    case Algorithm::Auto: break;
  }
  return all;
}

}  // namespace lanewise
