// Pieces of packed trees, their order and where they begin.
#include <gtest/gtest.h>

#include "core/planner/collectives/algorithms/packed_schedule.hpp"
#include "tests/planner/collectives/collective_cases.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::capped_leg;

// Two trees of root 0 share the leg to 1. On one of them the pieces go on from there to 2.
TEST(PackedSchedule, SendsPiecesWithHopsToGoFirst) {
  Packing const packing{{capped_leg(0, 1), capped_leg(1, 2), capped_leg(0, 2)},
                        {{0, 1 << 20, {0, 2}}, {0, 1 << 20, {0, 1}}, {0, 1 << 20, {2, 0}}}};
  Collective const broadcast{
      CollectiveOp::Broadcast, {Place(PciId(0)), Place(PciId(1)), Place(PciId(2))}, 3_MiB, Algorithm::PackedTrees, 0};
  auto const schedule = packed_schedule(broadcast, packing, 0, 12);
  std::vector<std::uint32_t> legs(3, 0);
  std::optional<Bytes> first;
  for (auto const& transfer : schedule.transfers()) {
    ++legs[*transfer.leg];
    if (*transfer.leg == 0 && !first) first = transfer.read_at;
    // On each leg the later piece waits.
    EXPECT_EQ(transfer.after.empty(), legs[*transfer.leg] == 1 && *transfer.leg != 1) << *transfer.leg;
  }
  // Trees that nobody forwards go whole; the first of the other tree's four pieces goes before them.
  EXPECT_EQ(legs, (std::vector<std::uint32_t>{6, 4, 2}));
  EXPECT_EQ(first, 1_MiB);
}

// The second leg is a third as fast: when it is free again, three pieces wait.
TEST(PackedSchedule, MergesWaitingPiecesThatNobodyForwards) {
  Packing const packing{{capped_leg(0, 1), capped_leg(1, 2, BytesPerSecond(0.33e9))}, {{0, 1 << 20, {0, 1}}}};
  Collective const broadcast{
      CollectiveOp::Broadcast, {Place(PciId(0)), Place(PciId(1)), Place(PciId(2))}, 1_MiB, Algorithm::PackedTrees, 0};
  std::vector<std::vector<Bytes>> sent(2);
  Bytes end{0};
  auto const schedule = packed_schedule(broadcast, packing, 0, 8);
  for (auto const& transfer : schedule.transfers()) {
    sent[*transfer.leg].push_back(transfer.bytes);
    if (*transfer.leg == 0) continue;
    EXPECT_EQ(transfer.read_at, end);
    end += transfer.bytes;
  }
  EXPECT_EQ(sent[0], std::vector<Bytes>(8, 128_KiB));
  EXPECT_EQ(sent[1], (std::vector<Bytes>{128_KiB, 384_KiB, 512_KiB}));
}

// In double arithmetic, 61 MiB / 14 * 7 is less than half of 61 MiB.
TEST(PackedSchedule, BeginsPartsWhereTheirRootsHaveThem) {
  constexpr std::uint32_t kCount = 14;
  Collective gathered{CollectiveOp::AllGather, {}, Bytes(std::int64_t{61} << 20), Algorithm::PackedTrees, 0};
  Packing packing;
  for (std::uint32_t from = 0; from < kCount; ++from) {
    gathered.among.emplace_back(PciId(from));
    PackedTree tree{from, 1, {}};
    for (std::uint32_t to = 0; to < kCount; ++to) {
      if (to == from) continue;
      tree.legs.push_back(static_cast<std::uint32_t>(packing.legs.size()));
      packing.legs.push_back(capped_leg(from, to));
    }
    packing.trees.push_back(tree);
  }
  auto const bytes = static_cast<double>(gathered.bytes.value());
  auto const schedule = packed_schedule(gathered, packing, 0, 8);
  ASSERT_EQ(schedule.transfers().size(), kCount * (kCount - 1));
  for (auto const& transfer : schedule.transfers())
    EXPECT_EQ(transfer.read_at, TransferSchedule::whole_elements(bytes * transfer.from / kCount)) << transfer.from;
}

}  // namespace
}  // namespace lanewise
