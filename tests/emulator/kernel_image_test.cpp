#include "emulator/kernel_image.hpp"

#include <gtest/gtest.h>

namespace lanewise::emulator {
namespace {

using namespace std::literals;

// An image whose setup header says that the payload begins so many bytes after one setup sector.
std::string image_with(std::string const& payload, std::uint32_t offset) {
  std::string image(1024 + offset, '\0');
  image[0x1f1] = 1;
  image.replace(0x202, 4, "HdrS");
  auto const put = [&](std::size_t at, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) image[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i));
  };
  put(0x248, offset);
  put(0x24c, static_cast<std::uint32_t>(payload.size()));
  return image + payload;
}

TEST(KernelImage, HoldsAPayloadWhereItsHeaderSays) {
  std::string const payload(600, 'p');
  EXPECT_EQ(payload_of(image_with(payload, 300)), payload);
  EXPECT_EQ(payload_of(image_with(payload, 300) + "more"), payload);
}

TEST(KernelImage, WithoutAWholePayloadHoldsNone) {
  std::string const payload(600, 'p');
  auto const image = image_with(payload, 300);
  EXPECT_FALSE(payload_of(image.substr(0, image.size() - 1)));
  EXPECT_FALSE(payload_of(""));
  EXPECT_FALSE(payload_of(std::string(4096, 'x')));
  auto far = image;
  far.replace(0x248, 4, "\xff\xff\xff\xff");
  EXPECT_FALSE(payload_of(far));
}

TEST(KernelImage, NamesItsVersion) {
  auto image = image_with("payload", 300);
  EXPECT_EQ(version_of_image(image), "");
  image[0x20e] = '\x60';  // at 0x260
  image.replace(0x260, 30, "6.1.0-56-amd64 (debian) #1 SMP");
  EXPECT_EQ(version_of_image(image), "6.1.0-56-amd64");
  image.replace(0x260, 14, "../../etc/pass");
  EXPECT_EQ(version_of_image(image), "") << "it becomes a folder's name";
  image.replace(0x20e, 2, "\xff\xff");
  EXPECT_EQ(version_of_image(image), "");
  EXPECT_EQ(version_of_image(""), "");
}

TEST(KernelImage, PayloadsAreToldByTheirFirstBytes) {
  EXPECT_EQ(unpacker_of("\xfd"
                        "7zXZ\0..."sv),
            "xz");
  EXPECT_EQ(unpacker_of("\x28\xb5\x2f\xfd..."sv), "zstd");
  EXPECT_EQ(unpacker_of("\x1f\x8b\x08"sv), "gzip");
  EXPECT_EQ(unpacker_of("BZh9"sv), "");
}

TEST(KernelImage, StartsOnlyWithItsEntryPoint) {
  EXPECT_TRUE(
      can_be_started("\x7f"
                     "ELF ... \x04\0\0\0\x08\0\0\0\x12\0\0\0Xen\0"sv));
  EXPECT_FALSE(
      can_be_started("\x7f"
                     "ELF ... \x04\0\0\0\x08\0\0\0\x11\0\0\0Xen\0"sv));
  EXPECT_FALSE(can_be_started("MZ"sv));
}

}  // namespace
}  // namespace lanewise::emulator
