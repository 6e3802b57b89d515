#include "core/planner/libraries/nccl/channel_rates.hpp"

namespace lanewise::nccl {

std::vector<double> speeds(int capability, bool several_nodes, Library const& library) {
  std::vector<double> all;
  if (capability >= 100) {
    all = several_nodes ? std::vector<double>{96, 86,   80, 48, 45.1, 42, 40,  30,  24,  22,
                                              20, 17.5, 15, 12, 6,    3,  2.4, 1.2, .24, .12}
                        : std::vector<double>{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
    auto const drop = [&](double speed) { std::erase(all, speed); };
    if (library.minor < 30) drop(86);
    if (library.minor < 29) {
      drop(several_nodes ? 80 : 45);
    }
    if (library.minor < 27) {
      drop(several_nodes ? 96 : 19);
      if (!several_nodes) drop(18);
    }
  } else if (capability >= 90) {
    all = several_nodes ? std::vector<double>{48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, .24, .12}
                        : std::vector<double>{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
    if (!several_nodes && library.minor < 21) std::erase(all, 11);
    if (!several_nodes && library.minor < 19) std::erase(all, 50);
  } else {
    all = several_nodes ? std::vector<double>{48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, .24, .12}
                        : std::vector<double>{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
  }
  return all;
}

// search.cc, followPath: through one host bridge of Intel 6/5 of PCIe.
double share_of(Topology const& topology, Path const& path, std::uint32_t link, double speed) {
  bool const overhead = topology.vendor() == CpuVendor::Intel && path.type == PathType::Phb && topology.is_pci(link);
  return overhead ? 1.2 * speed : speed;
}

}  // namespace lanewise::nccl
