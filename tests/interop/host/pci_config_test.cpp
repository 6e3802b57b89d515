#include "core/interop/host/pci_config.hpp"

#include <gtest/gtest.h>

#include "tests/hw/fake_system.hpp"

namespace lanewise {
namespace {

using test::config_space;

TEST(PciConfig, ReadsTheExpressCapability) {
  auto const config = read_pci_config(config_space(test::kDownstream, 0x1d));
  EXPECT_EQ(config.port_type, PortType::SwitchDownstream);
  EXPECT_EQ(config.max_link, (PcieLink{4, 16}));
  EXPECT_EQ(config.link, (PcieLink{3, 16}));
  EXPECT_EQ(config.max_payload, Bytes(256));
  EXPECT_EQ(config.max_read_request, Bytes(512));
  EXPECT_EQ(config.relaxed_ordering, true);
  EXPECT_EQ(config.tags, 256);
  EXPECT_EQ(config.acs, AcsControl::on());
  EXPECT_EQ(config.ari, false);
}

TEST(PciConfig, WithoutTheCapabilityAcsIsOffOnlyWhenAllWasRead) {
  EXPECT_EQ(read_pci_config(config_space(test::kRootPort)).acs, AcsControl::off());
  EXPECT_EQ(read_pci_config(config_space(test::kRootPort, 0x1d, 256)).acs, AcsControl::unknown());
  EXPECT_EQ(read_pci_config(config_space(test::kRootPort, 0x1d, 1024)).acs, AcsControl::unknown());
}

TEST(PciConfig, SixtyFourBytesSayNothingOfCapabilities) {
  auto const config = read_pci_config(config_space(test::kRootPort, 0x1d, 64));
  EXPECT_EQ(config, PciConfig{});
  EXPECT_EQ(read_pci_config({}), PciConfig{});
}

TEST(PciConfig, ADeviceThatDoesNotAnswerIsUnknown) {
  EXPECT_EQ(read_pci_config(std::vector<std::uint8_t>(4096, 0xff)), PciConfig{});
}

TEST(PciConfig, ListsThatLoopEnd) {
  auto bytes = config_space(test::kEndpoint, 0x01);
  bytes[0x41] = 0x40;                        // the capability follows itself
  bytes[0x102] = 0x01, bytes[0x103] = 0x10;  // so does the extended one, at 0x100
  auto const config = read_pci_config(bytes);
  EXPECT_EQ(config.port_type, PortType::Endpoint);
  EXPECT_EQ(config.acs.bits, 0x01);
}

TEST(PciConfig, FindsTheCliqueThatAHypervisorAnnounces) {
  auto bytes = config_space(test::kEndpoint);
  bytes[0x41] = 0xc8;
  std::uint8_t const capability[] = {0x09, 0x00, 0x08, 'P', '2', 'P', 5 << 3, 0};
  std::copy(std::begin(capability), std::end(capability), bytes.begin() + 0xc8);
  EXPECT_EQ(read_pci_config(bytes).peer_clique, 5);
}

}  // namespace
}  // namespace lanewise
