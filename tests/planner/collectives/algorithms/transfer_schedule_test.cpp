// Dependencies that limit and order transfers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/planner/collectives/algorithms/patterns.hpp"
#include "core/planner/collectives/algorithms/transfer_schedule.hpp"

namespace lanewise {
namespace {

using namespace literals;

TEST(TransferSchedule, LimitsOutstandingTransfers) {
  TransferSchedule schedule(4, 1_MiB, 1);
  auto const send = [&](std::size_t from, std::size_t to) {
    schedule.send_block_to_output(from, to, Bytes(0), Bytes(0), 1_KiB);
  };
  for (int i = 0; i < 4; ++i) {
    send(0, 2);
    send(0, 1);  // inside its group
  }
  send(1, 0);
  schedule.limit_outstanding(2, {{0, 1}, {2, 3}});
  auto const& transfers = schedule.transfers();
  for (std::uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(transfers[i].after, i < 4 ? std::vector<std::uint32_t>{} : std::vector{i - 4}) << i;
  EXPECT_TRUE(transfers[8].after.empty());  // another sender's first
}

TEST(TransferSchedule, ChainsTransfersOfASender) {
  TransferSchedule schedule(3, 1_MiB, 1);
  for (std::size_t const from : {0, 1, 0, 0, 1, 2})
    schedule.send_block_to_output(from, from == 2 ? 0 : 2, 0_B, 0_B, 1_KiB);
  schedule.chain_after(3, 0, 3);
  std::vector<std::vector<std::uint32_t>> after;
  for (auto const& transfer : schedule.transfers()) after.push_back(transfer.after);
  EXPECT_THAT(after, testing::ElementsAre(testing::IsEmpty(), testing::IsEmpty(), testing::IsEmpty(),
                                          testing::ElementsAre(2), testing::ElementsAre(1), testing::IsEmpty()));
}

TEST(TransferSchedule, LetsTwoOfALinkFlowAtOnce) {
  TransferSchedule schedule(3, 1_MiB, 4);
  for (std::uint32_t const chunk : {0U, 1U, 2U, 3U}) schedule.send(0, 1, {chunk}, false);
  schedule.send(0, 2, {0}, false);
  schedule.serialise_per_link(0, 2);
  std::vector<std::vector<std::uint32_t>> after;
  for (auto const& transfer : schedule.transfers()) after.push_back(transfer.after);
  using testing::ElementsAre;
  EXPECT_THAT(after, ElementsAre(ElementsAre(), ElementsAre(), ElementsAre(0), ElementsAre(1), ElementsAre()));
}

// Everyone gets every chunk once, after its sender has it, and the root sends each once. Of an even number of others
// nobody sends more than all chunks.
TEST(Patterns, TwoTreesLetNobodySendMoreThanAllData) {
  constexpr std::uint32_t kChunks = 8;
  for (std::size_t n = 2; n <= 40; ++n) {
    std::vector<std::size_t> ranks(n);
    std::iota(ranks.begin(), ranks.end(), 0);
    std::rotate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(n / 3), ranks.end());
    TransferSchedule schedule(n, 1_MiB, kChunks);
    two_tree_broadcast(schedule, ranks, {0, 1, 2, 3, 4, 5, 6, 7});
    std::vector<std::size_t> sent(n);
    std::vector<std::set<Bytes>> held(n);
    for (auto const& transfer : schedule.transfers()) {
      EXPECT_TRUE(transfer.from == ranks[0] || held[transfer.from].contains(transfer.read_at));
      EXPECT_TRUE(held[transfer.to].insert(transfer.read_at).second);
      ++sent[transfer.from];
    }
    for (std::size_t rank = 0; rank < n; ++rank)
      EXPECT_EQ(held[rank].size(), rank == ranks[0] ? 0 : kChunks) << rank << " of " << n;
    EXPECT_EQ(sent[ranks[0]], kChunks);
    for (std::size_t rank = 0; n % 2 == 1 && rank < n; ++rank) EXPECT_LE(sent[rank], kChunks) << rank << " of " << n;
  }
}

// A broadcast 0 > 1 > {2, 3} in two chunks: 2 and 3 add to what 1 has, one after the other, before 1 adds to 0.
TEST(TransferSchedule, ABroadcastInReverseIsAReduction) {
  TransferSchedule broadcast(4, 1_MiB, 2);
  for (std::uint32_t const chunk : {0U, 1U}) {
    broadcast.send(0, 1, {chunk}, false);
    broadcast.send(1, 2, {chunk}, false);
    broadcast.send(1, 3, {chunk}, false);
  }
  broadcast.serialise_per_link();
  auto const reduction = broadcast.reversed_as_reduction();
  auto const& transfers = reduction.transfers();
  ASSERT_EQ(transfers.size(), 6U);
  using Ends = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<Ends> ends;
  std::vector<std::vector<std::uint32_t>> after;
  for (auto const& transfer : transfers) {
    EXPECT_TRUE(transfer.reduces);
    EXPECT_EQ(transfer.bytes, 512_KiB);
    ends.emplace_back(transfer.from, transfer.to);
    after.push_back(transfer.after);
  }
  EXPECT_THAT(ends, testing::ElementsAre(Ends(3, 1), Ends(2, 1), Ends(1, 0), Ends(3, 1), Ends(2, 1), Ends(1, 0)));
  EXPECT_EQ(transfers[0].read_at, 512_KiB);
  EXPECT_THAT(after[1], testing::ElementsAre(0));
  EXPECT_THAT(after[2], testing::ElementsAre(0, 1));
  EXPECT_THAT(after[3], testing::ElementsAre(0));     // the same link
  EXPECT_THAT(after[4], testing::ElementsAre(1, 3));  // the same link, and the same place
  EXPECT_THAT(after[5], testing::ElementsAre(2, 3, 4));
}

}  // namespace
}  // namespace lanewise
