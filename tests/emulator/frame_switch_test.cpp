#include "emulator/frame_switch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace lanewise::emulator {
namespace {

// A frame as QEMU writes it: its length in four bytes, to, from, and a payload.
std::string frame(char to, char from, std::string const& payload) {
  auto const length = static_cast<char>(12 + payload.size());
  return std::string{0, 0, 0, length} + std::string(6, to) + std::string(6, from) + payload;
}
constexpr char kA = 2, kB = 4, kC = 6, kEverybody = '\xff';

TEST(FrameSwitch, FloodsWhatItDoesNotKnowAndLearns) {
  FrameSwitch frames(3);
  frames.receive(0, frame(kB, kA, "where is b"));
  EXPECT_EQ(frames.waiting_for(0), "");
  EXPECT_EQ(frames.waiting_for(1), frame(kB, kA, "where is b"));
  EXPECT_EQ(frames.waiting_for(2), frame(kB, kA, "where is b"));
  frames.waiting_for(1).clear();
  frames.waiting_for(2).clear();
  frames.receive(1, frame(kA, kB, "here"));
  EXPECT_EQ(frames.waiting_for(0), frame(kA, kB, "here"));
  EXPECT_EQ(frames.waiting_for(2), "");
  frames.receive(2, frame(kEverybody, kC, "hello"));
  EXPECT_EQ(frames.waiting_for(0), frame(kA, kB, "here") + frame(kEverybody, kC, "hello"));
  EXPECT_EQ(frames.waiting_for(1), frame(kEverybody, kC, "hello"));
}

TEST(FrameSwitch, PutsFramesTogetherFromPieces) {
  FrameSwitch frames(2);
  auto const both = frame(kB, kA, "one") + frame(kB, kA, "two");
  for (auto const letter : both) frames.receive(0, std::string(1, letter));
  EXPECT_EQ(frames.waiting_for(1), both);
}

TEST(FrameSwitch, PassesOverWhatIsNoFrame) {
  FrameSwitch frames(2);
  frames.receive(0, std::string{0, 0, 0, 3} + "abc" + frame(kB, kA, "good"));
  EXPECT_EQ(frames.waiting_for(1), frame(kB, kA, "good"));
}

TEST(FrameSwitch, HoldsTheSourceBackWhenADestinationIsSlow) {
  FrameSwitch frames(2);
  EXPECT_FALSE(frames.is_full());
  for (int i = 0; i < 4000; ++i) frames.receive(0, frame(kB, kA, std::string(100, 'x')));
  EXPECT_TRUE(frames.is_full());
  frames.waiting_for(1).clear();
  EXPECT_FALSE(frames.is_full());
}

VirtualMachine on(std::vector<int> networks) {
  VirtualMachine machine;
  machine.networks = std::move(networks);
  return machine;
}

std::string read_from(Descriptor const& end) {
  std::array<char, 256> chunk{};
  auto const count = read(end.get(), chunk.data(), chunk.size());
  return count > 0 ? std::string(chunk.data(), static_cast<std::size_t>(count)) : "";
}

TEST(Networks, TwoAreJoinedStraight) {
  Networks networks({on({255, 0}), on({255})});
  auto const first = networks.ends_of(0);
  auto const second = networks.ends_of(1);
  ASSERT_EQ(first.size(), 2U);
  ASSERT_EQ(write(first[0].get(), "abc", 3), 3);
  EXPECT_EQ(read_from(second[0]), "abc");
}

TEST(Networks, ThreeGoThroughTheSwitch) {
  Networks networks({on({255}), on({255}), on({255})});
  std::vector<std::vector<Descriptor>> ends;
  for (std::size_t i = 0; i < 3; ++i) ends.push_back(networks.ends_of(i));
  auto const sent = frame(kEverybody, kA, "hello");
  ASSERT_EQ(write(ends[0][0].get(), sent.data(), sent.size()), static_cast<ssize_t>(sent.size()));
  std::vector<pollfd> waiting;
  networks.wait_for(waiting);
  ASSERT_EQ(waiting.size(), 3U);
  ASSERT_EQ(poll(waiting.data(), waiting.size(), 1000), 1);
  networks.carry(waiting);
  EXPECT_EQ(read_from(ends[1][0]), sent);
  EXPECT_EQ(read_from(ends[2][0]), sent);
}

}  // namespace
}  // namespace lanewise::emulator
