#include "emulator/networks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace lanewise::emulator {
namespace {

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

TEST(Networks, TwoEndsAreJoinedDirectly) {
  Networks networks({on({255, 0}), on({255})});
  auto const first = networks.ends_of(0);
  auto const second = networks.ends_of(1);
  ASSERT_EQ(first.size(), 2U);
  ASSERT_EQ(write(first[0].get(), "abc", 3), 3);
  EXPECT_EQ(read_from(second[0]), "abc");
}

TEST(Networks, ThreeEndsAreJoinedByASwitch) {
  Networks networks({on({255}), on({255}), on({255})});
  std::vector<std::vector<Descriptor>> ends;
  for (std::size_t i = 0; i < 3; ++i) ends.push_back(networks.ends_of(i));
  // Four bytes of length, a broadcast address, a source and the rest of the frame.
  auto const sent = std::string({0, 0, 0, 17}) + std::string(6, '\xff') + std::string("\2\0\0\0\0\1", 6) + "hello";
  ASSERT_EQ(write(ends[0][0].get(), sent.data(), sent.size()), static_cast<ssize_t>(sent.size()));
  std::vector<pollfd> waiting;
  networks.add_descriptors(waiting);
  ASSERT_EQ(waiting.size(), 3U);
  ASSERT_EQ(poll(waiting.data(), waiting.size(), 1000), 1);
  networks.forward(waiting);
  EXPECT_EQ(read_from(ends[1][0]), sent);
  EXPECT_EQ(read_from(ends[2][0]), sent);
}

}  // namespace
}  // namespace lanewise::emulator
