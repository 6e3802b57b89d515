// Queue pairs on a real RDMA device (Soft-RoCE, too) and their error messages. Skipped where there is no device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "hw/memory/memory.hpp"
#include "hw/nodes/group.hpp"
#include "hw/verbs/region_cache.hpp"
#include "hw/verbs/verbs_transport.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kBytes = 100'000;
// Two retries of at least 0.27 s each; one retry for a receiver that is not ready.
constexpr RetryPolicy kShort{16, 2, 1, 12};

NetworkNic any_nic() {
  NetworkNic nic;
  nic.name = "here/nic0";
  return nic;
}

// Both ends of a link on one device, as two processes would have them.
class TwoEnds : public testing::Test {
 protected:
  void SetUp() override {
    layout_.links.push_back({{0, 1}, {0, 0}, 1, false});
    try {
      open(1024);
    } catch (MissingError const& error) {
      GTEST_SKIP() << error.what();
    }
  }

  void open(int entries) {
    for (auto& end : ends_) end = std::make_unique<End>(layout_, static_cast<int>(&end - ends_), entries);
    std::vector<std::string> const addresses{ends_[0]->transport.addresses(), ends_[1]->transport.addresses()};
    for (auto& end : ends_) end->transport.connect(addresses);
  }

  // A process's end: a device opened for itself, with memory registered.
  struct End {
    End(Layout const& layout, int rank, int entries)
        : nic(any_nic(), entries, Completion::Polling),
          transport(layout, rank, {&nic}, Completion::Polling, kShort),
          memory(Bytes(kBytes), std::nullopt),
          region(regions.region(nic, memory, Bytes(kBytes))) {}
    Nic nic;
    VerbsTransport transport;
    NodeMemory memory;
    RegionCache regions;
    ibv_mr const& region;
  };

  [[nodiscard]] WorkRequest request(Verb verb, std::uint32_t bytes) const {
    WorkRequest request;
    request.verb = verb;
    request.local = ends_[0]->memory.data();
    request.local_key = ends_[0]->region.lkey;
    request.remote = reinterpret_cast<std::uint64_t>(ends_[1]->memory.data());
    request.remote_key = ends_[1]->region.rkey;
    request.bytes = bytes;
    request.signalled = true;
    return request;
  }

  // The next completion at an end; an empty one, with a problem that says so, when none comes.
  WorkCompletion next(int end) {
    std::vector<WorkCompletion> done;
    auto const until = monotonic_now() + Seconds(30);
    while (done.empty() && monotonic_now() < until) ends_[end]->transport.poll(done);
    return done.empty() ? WorkCompletion{{}, 0, false, 0, 0, "nothing came"} : done.front();
  }

  Layout layout_;
  std::unique_ptr<End> ends_[2];
};

TEST_F(TwoEnds, EveryVerbWorks) {
  ends_[0]->memory.fill(1);
  ends_[0]->transport.post(LinkId(0), 0, request(Verb::Write, kBytes));
  EXPECT_EQ(next(0).problem, "");
  EXPECT_FALSE(ends_[1]->memory.mismatch(1));
  ends_[1]->memory.fill(2);
  ends_[0]->transport.post(LinkId(0), 0, request(Verb::Read, kBytes));
  EXPECT_EQ(next(0).problem, "");
  EXPECT_FALSE(ends_[0]->memory.mismatch(2));
  ends_[0]->memory.fill(3);
  ends_[1]->transport.post_receive(LinkId(0), 0, ends_[1]->memory.data(), ends_[1]->region.lkey, kBytes);
  auto message = request(Verb::Send, kBytes);
  message.immediate = 77;
  ends_[0]->transport.post(LinkId(0), 0, message);
  EXPECT_EQ(next(0).problem, "");
  auto const arrived = next(1);
  EXPECT_TRUE(arrived.arrival);
  EXPECT_EQ(arrived.immediate, 77U);
  EXPECT_FALSE(ends_[1]->memory.mismatch(3));
  // So small that it travels in the request itself.
  ends_[1]->memory.clear();
  ends_[1]->transport.post_receive(LinkId(0), 0, nullptr, 0, 0);
  auto small = request(Verb::Write, 8);
  small.immediate = 78;
  ends_[0]->transport.post(LinkId(0), 0, small);
  EXPECT_EQ(next(1).immediate, 78U);
  EXPECT_EQ(std::memcmp(ends_[0]->memory.data(), ends_[1]->memory.data(), 8), 0);
}

TEST_F(TwoEnds, AWrongKeyIsARemoteAccessError) {
  auto wrong = request(Verb::Write, kBytes);
  wrong.remote_key ^= 0xff00;
  ends_[0]->transport.post(LinkId(0), 0, wrong);
  EXPECT_THAT(next(0).problem, HasSubstr("remote access error"));
  EXPECT_THAT(ends_[0]->transport.text(LinkId(0), 0), testing::MatchesRegex("here/nic0 \\(.+\\), queue pair [0-9]+"));
}

TEST_F(TwoEnds, MemoryBeyondItsRegionIsARemoteAccessError) {
  auto beyond = request(Verb::Read, kBytes);
  beyond.remote += kBytes;
  ends_[0]->transport.post(LinkId(0), 0, beyond);
  EXPECT_THAT(next(0).problem, HasSubstr("remote access error"));
}

TEST_F(TwoEnds, AReceiverThatIsNotReadyIsNamed) {
  ends_[0]->transport.post(LinkId(0), 0, request(Verb::Send, 100));
  EXPECT_THAT(next(0).problem, HasSubstr("RNR retry counter exceeded (status 13): the other end had no receive ready"));
}

TEST_F(TwoEnds, AnEndThatIsGoneAnswersNoMore) {
  auto const write = request(Verb::Write, kBytes);
  ends_[1].reset();
  ends_[0]->transport.post(LinkId(0), 0, write);
  EXPECT_THAT(next(0).problem, HasSubstr("transport retry counter exceeded (status 12): no answer came"));
}

TEST_F(TwoEnds, WhatIsGivenUpComesBack) {
  ends_[1]->transport.post_receive(LinkId(0), 0, nullptr, 0, 0);
  ends_[1]->transport.abort(LinkId(0));
  EXPECT_THAT(next(1).problem, HasSubstr("Work Request Flushed"));
}

TEST_F(TwoEnds, AnOverrunCompletionQueueIsReported) {
  for (auto& end : ends_) end.reset();
  open(4);
  auto const room = ends_[0]->nic.completions()->cqe;  // as the device rounded it up
  std::vector<std::pair<LinkId, std::string>> lost;
  try {
    for (int i = 0; i < room + 8; ++i) {
      ends_[0]->transport.post(LinkId(0), 0, request(Verb::Write, 8));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    auto const until = monotonic_now() + Seconds(10);
    while (lost.empty() && monotonic_now() < until) lost = ends_[0]->transport.lost_links();
  } catch (DeviceError const& error) {  // the queue of requests was full before
    FAIL() << error.what();
  }
  ASSERT_FALSE(lost.empty());
  EXPECT_THAT(lost[0].second, HasSubstr("CQ error"));
}

}  // namespace
}  // namespace lanewise::hw
