#include "emulator/guest/pci.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "emulator/guest/system.hpp"

namespace lanewise::emulator::guest {
namespace {

// Extended capabilities (PCI Express Base Specification 7.6.3): identifier in bits 0 to 15, next one in 20 to 31.
constexpr int kFirstExtended = 0x100, kAcsCapability = 0x0d, kAcsControl = 6;

template <class Register>
Register read_register(int config, int offset) {
  Register value = 0;  // little-endian, as this program is
  if (pread(config, &value, sizeof value, offset) != sizeof value) return 0;
  return value;
}

// The offset of the ACS control register; 0 when there is none.
int acs_control(int config) {
  constexpr int kMaxCapabilities = 960;  // of four bytes each fit into the extended space; ends a circular list
  int offset = kFirstExtended;
  for (int i = 0; i < kMaxCapabilities && offset >= kFirstExtended; ++i) {
    auto const header = read_register<std::uint32_t>(config, offset);
    if ((header & 0xffff) == kAcsCapability) return offset + kAcsControl;
    offset = static_cast<int>(header >> 20);
  }
  return 0;
}

std::string hexadecimal(std::uint16_t bits) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%#06x", bits);
  return text.data();
}

}  // namespace

std::vector<std::string> check_pci_tree(std::vector<GuestFunction> const& functions) {
  std::vector<std::string> not_taken;
  for (auto const& function : functions) {
    auto const folder = "/sys/devices/" + function.path;
    if (access(folder.c_str(), F_OK) != 0)
      throw GuestError("the kernel did not find " + function.name + " at " + function.path);
    if (!function.acs) continue;
    auto const config = open_file(folder + "/config", O_RDWR);
    auto const offset = acs_control(config.get());
    auto const wanted = *function.acs;
    if (offset != 0 && pwrite(config.get(), &wanted, sizeof wanted, offset) != sizeof wanted) fail(folder);
    auto const has = offset == 0 ? std::uint16_t{0} : read_register<std::uint16_t>(config.get(), offset);
    if (has != wanted)
      not_taken.push_back(function.name + ": ACS is " + hexadecimal(has) + " and not " + hexadecimal(wanted));
  }
  return not_taken;
}

}  // namespace lanewise::emulator::guest
