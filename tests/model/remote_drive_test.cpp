// Drives of another node: NVMe over Fabrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lanewise/machine/catalogue.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/planner/planner.hpp"
#include "lanewise/rules/rule.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using namespace literals;

Machine cluster() { return test::bundled().machine("dgx-h100-2-storage"); }

Way way_by(Machine const& machine, std::string const& from, std::string const& to, Mechanism mechanism) {
  auto const ways = possible_ways(machine, {.from = machine.place(from), .to = machine.place(to), .bytes = 256_MiB});
  auto const found = std::find_if(ways.begin(), ways.end(), [&](Way const& way) { return way.mechanism == mechanism; });
  if (found == ways.end()) throw std::runtime_error("no such way");
  return *found;
}

std::string refusal_of(Machine const& machine, std::string const& from, std::string const& to, Mechanism mechanism) {
  auto const* rule = refusal(
      {machine, machine.place(from), machine.place(to), Op::Copy, way_by(machine, from, to, mechanism), 256_MiB});
  return rule == nullptr ? "" : std::string(rule->id);
}

Demand demand_of(Model const& model, std::string const& from, std::string const& to, Mechanism mechanism) {
  auto const& machine = model.machine();
  return model.lower(machine.place(from), machine.place(to), 256_MiB, Op::Copy, way_by(machine, from, to, mechanism));
}

bool uses(Model const& model, Demand const& demand, std::string const& resource) {
  return std::any_of(demand.uses.begin(), demand.uses.end(),
                     [&](auto const& use) { return model.resources().at(use.resource).name == resource; });
}

// The network is wider than a drive: from another node it is as fast as from its own.
TEST(RemoteDrive, TheDriveIsTheNarrowestOfItsWay) {
  Model const model(cluster());
  auto const rate = [&](std::string const& from, std::string const& to, Mechanism mechanism) {
    return model.cost(demand_of(model, from, to, mechanism), 1_GiB).value().rate.value();
  };
  auto const reads = rate("node2/nvme0", "node2/numa0", Mechanism::HostDma);
  auto const writes = rate("node2/numa0", "node2/nvme0", Mechanism::HostDma);
  EXPECT_LT(writes, reads);
  EXPECT_NEAR(rate("node2/nvme0", "node0/gpu0", Mechanism::StorageDirect), reads, 0.01 * reads);
  EXPECT_NEAR(rate("node0/gpu0", "node2/nvme0", Mechanism::StorageDirect), writes, 0.01 * writes);
}

TEST(RemoteDrive, ItsNodeStagesAndTheOtherOnlyWithoutGpuDirectStorage) {
  Model const model(cluster());
  auto const direct = demand_of(model, "node2/nvme0", "node0/gpu0", Mechanism::StorageDirect);
  EXPECT_TRUE(uses(model, direct, "node2/numa0.memory"));
  EXPECT_FALSE(uses(model, direct, "node0/numa0.memory"));
  auto const staged = demand_of(model, "node2/nvme0", "node0/gpu0", Mechanism::StorageStaged);
  EXPECT_TRUE(uses(model, staged, "node2/numa0.memory"));
  EXPECT_TRUE(uses(model, staged, "node0/numa0.memory"));
  EXPECT_GT(staged.latency(), direct.latency());
  EXPECT_GT(direct.latency(), demand_of(model, "node0/nvme0", "node0/gpu0", Mechanism::StorageDirect).latency());
}

TEST(RemoteDrive, HostMemoryOfAnotherNodeIsReachedByRdma) {
  Model const model(cluster());
  auto const demand = demand_of(model, "node2/nvme0", "node1/numa0", Mechanism::Rdma);
  EXPECT_TRUE(uses(model, demand, "node2/nvme0.reads"));
  EXPECT_TRUE(uses(model, demand, "node1/numa0.memory"));
}

TEST(RemoteDrive, RulesAskTheNodeOfTheGpu) {
  auto machine = cluster();
  EXPECT_EQ(refusal_of(machine, "node2/nvme0", "node0/gpu0", Mechanism::StorageDirect), "");
  machine.hosts[0].software.gpudirect_storage = false;
  EXPECT_EQ(refusal_of(machine, "node2/nvme0", "node0/gpu0", Mechanism::StorageDirect), "GDS-SOFTWARE");
  EXPECT_EQ(refusal_of(machine, "node0/gpu0", "node2/nvme0", Mechanism::StorageDirect), "GDS-SOFTWARE");
  EXPECT_EQ(refusal_of(machine, "node2/nvme0", "node1/gpu0", Mechanism::StorageDirect), "");
  machine.hosts[1].settings.iommu = IommuMode::Strict;
  EXPECT_EQ(refusal_of(machine, "node2/nvme0", "node1/gpu0", Mechanism::StorageDirect), "GDS-IOMMU");
  machine.hosts[1].software.cuda = false;
  EXPECT_EQ(refusal_of(machine, "node2/nvme0", "node1/gpu0", Mechanism::StorageDirect), "GPU-RUNTIME");
}

TEST(RemoteDrive, AServerWithoutGpusNeedsNoGpuRuntime) {
  auto machine = cluster();
  ASSERT_FALSE(machine.hosts[2].software.cuda);
  EXPECT_EQ(refusal_of(machine, "node2/numa0", "node0/gpu0", Mechanism::Gdr), "");
  machine.hosts[0].settings.iommu = IommuMode::Strict;  // of the GPU's node, though the data are on another
  machine.hosts[0].software.dma_buf = false;
  EXPECT_EQ(refusal_of(machine, "node2/numa0", "node0/gpu0", Mechanism::Gdr), "GDR-IOMMU-TRANSLATED");
}

TEST(RemoteDrive, NothingGoesFromDriveToDrive) {
  auto const machine = cluster();
  EXPECT_TRUE(
      possible_ways(machine, {.from = machine.place("node2/nvme0"), .to = machine.place("node0/nvme0")}).empty());
}

}  // namespace
}  // namespace lanewise
