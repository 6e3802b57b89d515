#include "core/interop/host/pci_config.hpp"

#include <algorithm>
#include <array>

namespace lanewise {
namespace {

// Offsets and bits: PCI Express Base Specification 5.0, 7.5.1 (header), 7.5.3 (PCI Express capability), 7.7.11 (ACS);
// Linux include/uapi/linux/pci_regs.h.
constexpr std::size_t kHeaderBytes = 64, kLegacyBytes = 256, kExtendedBytes = 4096;
constexpr std::size_t kStatus = 0x06, kFirstCapability = 0x34;
constexpr unsigned kHasCapabilities = 0x10;
constexpr unsigned kVendorSpecific = 0x09, kPciExpress = 0x10;
constexpr unsigned kAcs = 0x000d, kAri = 0x000e;
constexpr std::size_t kFlags = 0x02, kDeviceControl = 0x08, kLinkCapabilities = 0x0c, kLinkStatus = 0x12,
                      kDeviceControl2 = 0x28;
constexpr std::size_t kAcsControl = 0x06;
constexpr std::uint16_t kAcsBits = 0x7f;

class ConfigReader {
 public:
  explicit ConfigReader(std::span<std::uint8_t const> bytes)
      : bytes_(bytes.first(std::min(bytes.size(), kExtendedBytes))) {}

  PciConfig read() {
    if (bytes_.size() < kLegacyBytes || absent()) return config_;
    config_.has_capabilities = true;
    walk_capabilities();
    config_.has_extended = bytes_.size() >= kExtendedBytes;
    // A port without the capability forwards peer traffic directly.
    if (config_.has_extended) walk_extended();
    return config_;
  }

 private:
  // Reading a device that does not answer gives all ones.
  [[nodiscard]] bool absent() const {
    return std::all_of(bytes_.begin(), bytes_.begin() + 4, [](auto byte) { return byte == 0xff; });
  }
  [[nodiscard]] unsigned at(std::size_t offset) const { return offset < bytes_.size() ? bytes_[offset] : 0; }
  [[nodiscard]] unsigned word(std::size_t offset) const { return at(offset) | at(offset + 1) << 8U; }
  [[nodiscard]] unsigned double_word(std::size_t offset) const { return word(offset) | word(offset + 2) << 16U; }

  void walk_capabilities() {
    if ((word(kStatus) & kHasCapabilities) == 0) return;
    std::array<bool, kLegacyBytes> seen{};
    for (auto next = at(kFirstCapability) & ~3U; next >= kHeaderBytes && !seen.at(next); next = at(next + 1) & ~3U) {
      seen.at(next) = true;
      if (at(next) == kPciExpress) read_express(next);
      if (at(next) == kVendorSpecific) read_vendor_specific(next);
    }
  }

  void read_express(std::size_t offset) {
    config_.port_type = port_type(word(offset + kFlags) >> 4U & 0xfU);
    auto const control = word(offset + kDeviceControl);
    config_.max_payload = size(control >> 5U & 7U);
    config_.max_read_request = size(control >> 12U & 7U);
    config_.relaxed_ordering = (control & 0x10U) != 0;
    bool const has_second = (word(offset + kFlags) & 0xfU) >= 2;
    bool const ten_bit = has_second && (word(offset + kDeviceControl2) & 0x1000U) != 0;
    config_.tags = ten_bit ? 1024 : (control & 0x100U) != 0 ? 256 : 32;
    auto const capabilities = double_word(offset + kLinkCapabilities);
    config_.max_link = link(capabilities);
    config_.link = link(word(offset + kLinkStatus));
  }

  static PortType port_type(unsigned code) {
    switch (code) {
      case 0x0:
      case 0x1: return PortType::Endpoint;
      case 0x4: return PortType::RootPort;
      case 0x5: return PortType::SwitchUpstream;
      case 0x6: return PortType::SwitchDownstream;
      case 0x9: return PortType::Integrated;
      default: return PortType::Other;
    }
  }

  static std::optional<Bytes> size(unsigned code) {
    constexpr std::int64_t kSmallest = 128;
    if (code > 5) return std::nullopt;
    return Bytes(kSmallest << code);
  }

  // Speed and width have the same bits in the capabilities and the status register.
  static std::optional<PcieLink> link(unsigned bits) {
    constexpr std::array<int, 7> kWidths{1, 2, 4, 8, 12, 16, 32};
    PcieLink const found{static_cast<int>(bits & 0xfU), static_cast<int>(bits >> 4U & 0x3fU)};
    bool const known_width = std::find(kWidths.begin(), kWidths.end(), found.width) != kWidths.end();
    if (found.generation < 1 || found.generation > 6 || !known_width) return std::nullopt;
    return found;
  }

  // QEMU hw/vfio/pci-quirks.c: length 8, the letters P2P, then the clique in bits 6:3.
  void read_vendor_specific(std::size_t offset) {
    if (at(offset + 2) != 8 || at(offset + 3) != 'P' || at(offset + 4) != '2' || at(offset + 5) != 'P') return;
    config_.peer_clique = static_cast<int>(at(offset + 6) >> 3U & 0xfU);
  }

  void walk_extended() {
    config_.acs = AcsControl::off();
    config_.ari = false;
    std::array<bool, kExtendedBytes> seen{};
    for (std::size_t next = kLegacyBytes; next >= kLegacyBytes && next + 4 <= kExtendedBytes && !seen.at(next);) {
      seen.at(next) = true;
      auto const header = double_word(next);
      if (header == 0 || header == 0xffffffffU) return;
      if ((header & 0xffffU) == kAcs)
        config_.acs = {true, static_cast<std::uint16_t>(word(next + kAcsControl) & kAcsBits)};
      if ((header & 0xffffU) == kAri) config_.ari = true;
      next = header >> 20U & ~3U;
    }
  }

  std::span<std::uint8_t const> bytes_;
  PciConfig config_;
};

}  // namespace

PciConfig read_pci_config(std::span<std::uint8_t const> bytes) { return ConfigReader(bytes).read(); }

}  // namespace lanewise
