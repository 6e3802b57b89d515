// Every view of every machine and cluster that comes with lanewise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/view/machine/dot.hpp"
#include "core/view/machine/machine_json.hpp"
#include "core/view/machine/topo.hpp"
#include "core/view/machine/tree.hpp"
#include "lanewise/machine/catalogue.hpp"

namespace lanewise {
namespace {

Catalogue bundled() {
  auto const* own = std::getenv("LANEWISE_TOPOLOGIES");
  return Catalogue(
      {own != nullptr ? std::filesystem::path(own) : std::filesystem::path(LANEWISE_SOURCE_DIR) / "topologies"});
}

void expect_views(Machine const& machine) {
  EXPECT_EQ(tree_text(machine).rfind(machine.name, 0), 0U);
  EXPECT_NE(topo_matrix(machine).find("NV#  = "), std::string::npos);
  auto const dot = dot_text(machine);
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '{'), std::count(dot.begin(), dot.end(), '}'));
}

TEST(BundledMachines, HaveEveryView) {
  auto catalogue = bundled();
  auto const names = catalogue.machine_names();
  if (names.empty()) GTEST_SKIP() << "no bundled machines";
  for (auto const& name : names) {
    SCOPED_TRACE(name);
    auto const machine = catalogue.machine(name);
    expect_views(machine);
    EXPECT_EQ(catalogue.machine_from(SourceText::from_memory(name, machine_json(machine).dump(2))), machine);
  }
}

TEST(BundledClusters, HaveEveryView) {
  auto catalogue = bundled();
  auto const names = catalogue.cluster_names();
  if (names.empty()) GTEST_SKIP() << "no bundled clusters";
  for (auto const& name : names) {
    SCOPED_TRACE(name);
    auto const cluster = catalogue.machine(name);
    expect_views(cluster);
    EXPECT_EQ(machine_json(cluster)["lanewise"], "cluster-view/1");
  }
}

}  // namespace
}  // namespace lanewise
