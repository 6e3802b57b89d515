#include "core/interop/exports/nvml_mock/config_space.hpp"

#include <charconv>

namespace lanewise {
namespace {

// Offsets and bits as in core/interop/host/pci_config.cpp: PCI Express Base Specification 5.0, 7.5.1, 7.5.3, 7.7.11.
constexpr std::size_t kBytes = 4096, kHeader = 64;
constexpr std::size_t kExpressOffset = 0x40, kAcsOffset = 0x100;

class ConfigWriter {
 public:
  void word(std::size_t offset, unsigned value) {
    bytes_[offset] = static_cast<char>(value & 0xffU);
    bytes_[offset + 1] = static_cast<char>(value >> 8U & 0xffU);
  }
  void double_word(std::size_t offset, unsigned value) {
    word(offset, value & 0xffffU);
    word(offset + 2, value >> 16U);
  }
  std::string take(std::size_t size) { return bytes_.substr(0, size); }

 private:
  std::string bytes_ = std::string(kBytes, '\0');
};

unsigned hex(std::string_view text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

unsigned port_code(ExportedPort port) {
  switch (port) {
    case ExportedPort::RootPort: return 0x4;
    case ExportedPort::SwitchUpstream: return 0x5;
    case ExportedPort::SwitchDownstream: return 0x6;
    case ExportedPort::Endpoint: break;
  }
  return 0x0;
}

unsigned link_bits(PcieLink link) {
  return static_cast<unsigned>(link.generation) | static_cast<unsigned>(link.width) << 4U;
}

}  // namespace

std::string config_space(ExportedIds const& ids, ExportedPort port, std::optional<PcieLink> link,
                         std::optional<PcieLink> max_link, std::optional<AcsControl> acs) {
  ConfigWriter config;
  config.word(0x00, hex(std::string_view(ids.id).substr(0, 4)));
  config.word(0x02, hex(std::string_view(ids.id).substr(5)));
  config.word(0x06, 0x10);  // has capabilities
  config.word(0x0a, ids.class_code >> 8U);
  if (port != ExportedPort::Endpoint) config.word(0x0e, 0x01);  // header of a bridge
  config.word(0x34, kExpressOffset);
  config.word(kExpressOffset, 0x10);
  config.word(kExpressOffset + 0x02, port_code(port) << 4U | 2U);
  config.word(kExpressOffset + 0x08, 0x2130);  // MPS 256 B, MRRS 512 B, relaxed ordering, extended tags
  if (max_link) config.double_word(kExpressOffset + 0x0c, link_bits(*max_link));
  if (link) config.word(kExpressOffset + 0x12, link_bits(*link));
  if (acs && !acs->known) return config.take(kHeader);
  if (acs) {
    config.double_word(kAcsOffset, 0x0001000d);
    config.word(kAcsOffset + 0x04, 0x5f);
    config.word(kAcsOffset + 0x06, acs->bits);
  }
  return config.take(kBytes);
}

}  // namespace lanewise
