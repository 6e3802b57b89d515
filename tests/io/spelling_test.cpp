#include "core/io/spelling.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace lanewise {
namespace {

TEST(Spelling, FindsTheNearestWord) {
  std::vector<std::string> const words{"switch", "socket", "nic", "nvme"};
  EXPECT_EQ(nearest_spelling("swich", words), "switch");
  EXPECT_EQ(nearest_spelling("SOCKET", words), "socket");
  EXPECT_EQ(nearest_spelling("nvmee", words), "nvme");
}

TEST(Spelling, WhatIsFarFromEverythingIsNotGuessed) {
  std::vector<std::string> const words{"switch", "socket"};
  EXPECT_EQ(nearest_spelling("temperature", words), "");
  EXPECT_EQ(nearest_spelling("", {}), "");
  EXPECT_EQ(nearest_spelling(std::string(100'000, 'x'), words), "");
}

TEST(Spelling, SuggestsInASentence) {
  std::vector<std::string> const words{"gpu0", "gpu1"};
  EXPECT_EQ(did_you_mean("gpo0", words), "; did you mean 'gpu0'?");
  EXPECT_EQ(did_you_mean("a-very-long-word", words), "");
}

}  // namespace
}  // namespace lanewise
