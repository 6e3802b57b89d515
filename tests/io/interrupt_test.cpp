#include "core/io/interrupt.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

TEST(Interrupt, NewerWorkOvertakes) {
  std::atomic<unsigned> newest = 1;
  {
    OvertakenScope const scope(newest, 1);
    EXPECT_FALSE(interrupted());
    newest = 2;
    EXPECT_TRUE(interrupted());
    EXPECT_FALSE(stop_requested()) << "the program goes on";
    EXPECT_THROW(throw_if_interrupted(), Interrupted);
  }
  EXPECT_FALSE(interrupted());
}

TEST(Interrupt, ASignalStopsWhateverIsUnderWay) {
  std::atomic<unsigned> newest = 1;
  InterruptScope const interruptible;
  OvertakenScope const scope(newest, 1);
  std::raise(SIGINT);
  EXPECT_TRUE(stop_requested());
  EXPECT_THROW(throw_if_interrupted(), Interrupted);
}

}  // namespace
}  // namespace lanewise
