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

}  // namespace
}  // namespace lanewise::emulator
