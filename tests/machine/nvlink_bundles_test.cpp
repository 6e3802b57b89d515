// Which NVLink bundles a node has.
#include "core/machine/nvlink_bundles.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <variant>

#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

TEST(NvlinkBundles, OfAllNodesAreThoseOfTheMachine) {
  std::size_t clusters = 0;
  auto catalogue = test::bundled();
  auto names = catalogue.machine_names();
  names.insert(names.end(), catalogue.cluster_names().begin(), catalogue.cluster_names().end());
  for (auto const& name : names) {
    SCOPED_TRACE(name);
    auto const machine = catalogue.machine(name);
    clusters += machine.hosts.size() > 1 && !machine.nvlinks.empty() ? 1 : 0;
    std::size_t number = 0;
    for (std::size_t h = 0; h < machine.hosts.size(); ++h)
      for (auto const& bundle : bundles_of(machine, HostId(h))) {
        EXPECT_EQ(number_of(machine, bundle), number++);
        for (auto const& end : {bundle.a, bundle.b}) {
          auto const* gpu = std::get_if<PciId>(&end);
          EXPECT_EQ(gpu != nullptr ? machine.host_of(*gpu) : machine.at(std::get<SocketId>(end)).host, HostId(h));
        }
      }
    EXPECT_EQ(number, machine.nvlinks.size());
  }
  EXPECT_GT(clusters, 0U);
}

}  // namespace
}  // namespace lanewise
