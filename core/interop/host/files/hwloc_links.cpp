#include "core/interop/host/files/hwloc_links.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace lanewise {
namespace {

// Every width and generation that carries so many GB/s, fastest lanes last. hwloc, pci-common.c: 2.5 and 5 GT/s with
// 8b/10b, 8 to 32 GT/s with 128b/130b, 64 GT/s with 242/256.
std::vector<PcieLink> links_of(double gigabytes) {
  constexpr std::array<double, 6> kPerLane{
      0.25, 0.5, 8.0 / 8 * 128 / 130, 16.0 / 8 * 128 / 130, 32.0 / 8 * 128 / 130, 64.0 / 8 * 242 / 256};
  constexpr double kTolerance = 0.01;
  std::vector<PcieLink> found;
  for (int generation = 1; generation <= 6; ++generation)
    for (int const width : {1, 2, 4, 8, 16, 32}) {
      auto const rate = kPerLane.at(static_cast<std::size_t>(generation) - 1) * width;
      if (std::abs(rate - gigabytes) < kTolerance * rate) found.push_back({generation, width});
    }
  return found;
}

}  // namespace

void infer_hwloc_links(std::map<std::string, double> const& bandwidths, HostFacts& facts) {
  bool ambiguous = false;
  for (auto& function : facts.pci) {
    auto const bandwidth = bandwidths.find(function.bdf);
    if (bandwidth == bandwidths.end()) continue;
    auto const links = links_of(bandwidth->second);
    if (links.empty()) continue;
    ambiguous = ambiguous || links.size() > 1;
    int const usual = function.is_nvme() ? 4 : 16;
    auto const at_most = std::find_if(links.begin(), links.end(), [&](PcieLink link) { return link.width <= usual; });
    function.link = at_most == links.end() ? links.back() : *at_most;
    function.link_reading = LinkReading::Bandwidth;
  }
  if (ambiguous)
    facts.notes.emplace_back(
        "inferred: hwloc gives bandwidths of links, which gen4 x8 and gen3 x16 share; the widest link up to x16 is "
        "taken, of drives up to x4");
}

}  // namespace lanewise
