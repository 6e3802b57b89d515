// Fuzzes the reader of PCI configuration space, with the input as it is and padded with zeros to all 4096 bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/interop/host/pci_config.hpp"

namespace {

// What was not read must stay unknown, never off.
void check(lanewise::PciConfig const& config) {
  if (config.acs.known != config.has_extended) std::abort();
  if (!config.has_capabilities && config != lanewise::PciConfig{}) std::abort();
  for (auto const& link : {config.link, config.max_link})
    if (link && (link->generation < 1 || link->generation > 6 || link->width < 1 || link->width > 32)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  constexpr std::size_t kConfigSpaceSize = 4096;
  std::vector<std::uint8_t> bytes(data, data + std::min(size, kConfigSpaceSize));
  check(lanewise::read_pci_config(bytes));
  bytes.resize(kConfigSpaceSize);
  check(lanewise::read_pci_config(bytes));
  return 0;
}
