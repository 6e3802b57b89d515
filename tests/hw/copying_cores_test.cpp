#include "hw/memory/copying_cores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lanewise::hw {
namespace {

std::vector<std::uint8_t> numbered(std::size_t bytes) {
  std::vector<std::uint8_t> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  return made;
}

TEST(CopyingCores, CopyEveryByteAndNoOther) {
  constexpr std::size_t kMargin = 128;
  for (int const cores : {0, 1, 2, 5})
    for (std::size_t const bytes : {1UL, 63UL, 64UL, 262144UL, 262145UL, 1048577UL})
      for (std::size_t const off : {0UL, 1UL}) {  // pages begin at lines' boundaries, and so do copies, or not
        SCOPED_TRACE(testing::Message() << cores << " cores, " << bytes << " bytes, off by " << off);
        auto const length = bytes + off + kMargin;
        BoundPages const source(Bytes(static_cast<std::int64_t>(length)), std::nullopt);
        BoundPages const target(Bytes(static_cast<std::int64_t>(length)), std::nullopt);
        auto const from = numbered(length);
        std::copy(from.begin(), from.end(), static_cast<std::uint8_t*>(source.data()));
        auto* const to = static_cast<std::uint8_t*>(target.data());
        std::fill_n(to, length, 0xee);
        std::vector<std::uint8_t> expected(length, 0xee);
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(off), bytes,
                    expected.begin() + static_cast<std::ptrdiff_t>(off));
        CopyingCores(cores, std::nullopt)
            .copy(to + off, static_cast<std::uint8_t const*>(source.data()) + off,
                  Bytes(static_cast<std::int64_t>(bytes)));
        EXPECT_EQ(std::vector<std::uint8_t>(to, to + length), expected);
      }
}

TEST(CopyingCores, CopyAgainAndAgain) {
  CopyingCores cores(3, 0);
  auto from = numbered(1'000'000);
  std::vector<std::uint8_t> to(from.size());
  for (int round = 0; round < 20; ++round) {
    for (auto& byte : from) ++byte;
    cores.copy(to.data(), from.data(), Bytes(static_cast<std::int64_t>(from.size())));
    ASSERT_EQ(to, from) << round;
  }
}

}  // namespace
}  // namespace lanewise::hw
