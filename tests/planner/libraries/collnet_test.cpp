// CollNet, by which network switches add what nodes send (SHARP), against sums over NCCL's rules done by hand.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/planner/libraries/nccl/collnet.hpp"
#include "core/planner/libraries/nccl/tree_search.hpp"
#include "core/planner/libraries/nccl/tuning.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/machine/setting.hpp"
#include "lanewise/planner/libraries/library.hpp"
#include "tests/support/machines.hpp"

namespace lanewise::nccl {
namespace {

using namespace literals;
using testing::Contains;
using testing::HasSubstr;

Catalogue& catalogue() {
  static Catalogue all({LANEWISE_SOURCE_DIR "/topologies"});
  return all;
}

std::string const kAdds = "library.env.NCCL_COLLNET_ENABLE=1";

Machine cluster_of(std::string const& node, std::size_t nodes, std::string const& fabric,
                   std::vector<std::string> const& settings = {}) {
  auto machine = catalogue().machine_from(
      SourceText::from_memory("some.yaml", fmt::format("lanewise: cluster/1\ncluster: some\nsettings: {{acs: off}}\n"
                                                       "nodes: [{{machine: {}, count: {}}}]\nfabric: {{{}}}\n",
                                                       node, nodes, fabric)));
  for (auto const& text : settings) apply_setting(machine, parse_setting(text), catalogue());
  return machine;
}
std::string const kRails = "kind: rail_optimised, switch: quantum-2-ndr, nodes_per_leaf: 8";
std::string const kHdrRails = "kind: rail_optimised, switch: quantum-hdr, nodes_per_leaf: 8";

Collective among_all(Model const& model, CollectiveOp op, Bytes bytes) {
  Collective collective{op, {}, bytes};
  for (auto const gpu : model.machine().all(PciKind::Gpu)) collective.among.emplace_back(gpu);
  return collective;
}
Plan plan_of(Machine machine, CollectiveOp op, Bytes bytes) {
  Model const model(std::move(machine));
  return plan_by_library(model, among_all(model, op, bytes), Library{});
}
std::vector<std::string> remarks_of(Machine machine) {
  return plan_of(std::move(machine), CollectiveOp::AllReduce, 256_MiB).library.value().remarks;
}

// Eight heads of 48 GB/s, each of which takes twice that of a GPU's 370.8; direct 2 (3.7 + 7 x 0.4) + 31 us, a chain
// 2 x 7 x 2.8 + 30 us, NVLS 25 + 18 us.
TEST(CollNet, IsChosenByNcclsFigures) {
  auto const machine = cluster_of("hgx-h100", 2, kRails);
  std::vector<PciId> gpus;
  for (auto const gpu : machine.all(PciKind::Gpu))
    if (gpus.size() < 8) gpus.push_back(gpu);
  Library const library;
  Topology const topology(machine, gpus, library, {});
  Communicator communicator{16, 2,     8, search_rings(topology, true, library), search_nvls(topology, true, library),
                            0,  false, {}};
  communicator.collnet = search_collnet(topology, communicator.ring, library);
  EXPECT_EQ(head_count(*communicator.collnet), 8U);
  EXPECT_EQ(communicator.collnet->direct.channels.size(), 8U);
  EXPECT_EQ(communicator.collnet->direct.rate, 48);
  EXPECT_EQ(communicator.collnet->chain_rate, 48);
  auto const cells_of = [&](CollectiveOp op) {
    std::map<AlgorithmKind, Cell> found;
    for (auto const& cell : cells(op, communicator, topology, library, {})) found[cell.algorithm] = cell;
    return found;
  };
  auto const reduce = cells_of(CollectiveOp::AllReduce);
  EXPECT_NEAR(reduce.at(AlgorithmKind::CollNetDirect).latency_us, 44, 1e-9);
  EXPECT_NEAR(reduce.at(AlgorithmKind::CollNetDirect).rate, 8 * 48 * .85 / 2, 1e-9);
  EXPECT_NEAR(reduce.at(AlgorithmKind::CollNetChain).latency_us, 69.2, 1e-9);
  EXPECT_NEAR(reduce.at(AlgorithmKind::CollNetChain).rate, 8 * 48 / 2, 1e-9);
  EXPECT_NEAR(reduce.at(AlgorithmKind::Nvls).latency_us, 43, 1e-9);
  EXPECT_NEAR(reduce.at(AlgorithmKind::Nvls).rate, 8 * 48 * 16.0 / 30, 1e-9);  // the NICs' 48, not NVLink's 59.5
  auto const gather = cells_of(CollectiveOp::AllGather);
  EXPECT_NEAR(gather.at(AlgorithmKind::CollNetDirect).rate, 8 * 48 * .9, 1e-9);
  EXPECT_FALSE(gather.contains(AlgorithmKind::CollNetChain));
  EXPECT_EQ(cells_of(CollectiveOp::Broadcast).size(), 1U);
}

// One for each NIC that some GPU calls its own; within a node the rate rises to twice that of the NIC.
TEST(CollNet, HasAHeadForEachNic) {
  auto const search = [](std::string const& node) {
    auto const machine = cluster_of(node, 2, kHdrRails);
    std::vector<PciId> gpus;
    for (auto const gpu : machine.all(PciKind::Gpu))
      if (gpus.size() < 8) gpus.push_back(gpu);
    Library const library;
    Topology const topology(machine, gpus, library, {});
    return search_collnet(topology, search_rings(topology, true, library), library);
  };
  auto const eight = search("dgx-a100");
  EXPECT_EQ(head_count(eight), 8U);
  EXPECT_EQ(eight.direct.inter_rate, 24);  // of 25
  EXPECT_EQ(eight.direct.rate, 48);        // NVLinks have 240
  auto const four = search("p4d");
  EXPECT_EQ(head_count(four), 4U);
  EXPECT_EQ(four.direct.inter_rate, 12);  // of 12.5
  EXPECT_EQ(four.direct.rate, 24);
}

// Every NIC sends its head's part and receives the sum of it; the switches of a rail add.
TEST(CollNet, EveryNicCarriesItsPartOnceEachWay) {
  for (auto const& [algorithm, op] :
       {std::pair("CollNetDirect", CollectiveOp::AllReduce), std::pair("CollNetDirect", CollectiveOp::ReduceScatter),
        std::pair("CollNetChain", CollectiveOp::AllReduce), std::pair("NVLS", CollectiveOp::AllReduce)}) {
    auto const plan = plan_of(
        cluster_of("hgx-h100", 4, kRails, {kAdds, fmt::format("library.env.NCCL_ALGO={}", algorithm)}), op, 1_GiB);
    EXPECT_EQ(plan.library.value().algorithm, algorithm);
    std::map<PciId, double> sent;
    std::map<PciId, double> received;
    for (auto const& step : plan.steps) {
      if (!step.way.nic_from) continue;
      EXPECT_TRUE(step.way.in_network);
      sent[*step.way.nic_from] += static_cast<double>(step.bytes.value());
      received[step.way.nic_to.value()] += static_cast<double>(step.bytes.value());
    }
    EXPECT_EQ(sent.size(), 32U) << algorithm;
    for (auto const& [nic, bytes] : sent) {
      EXPECT_NEAR(bytes, (1 << 30) / 8.0, 64) << algorithm;
      EXPECT_NEAR(received.at(nic), bytes, 1) << algorithm;
    }
  }
}

// The rate of a ring falls with the nodes' steps, and a byte passes each NIC twice: by SHARP once, at 20 of 25 GB/s.
// nccl#320: with eight NICs of 200 Gb/s NVLink is what limits it, at about 110 GB/s of the data.
TEST(CollNet, OfA100IsLimitedByNvlink) {
  auto const rate = [](std::vector<std::string> const& settings) {
    Model const model(cluster_of("dgx-a100", 8, kHdrRails, settings));
    auto const collective = among_all(model, CollectiveOp::AllReduce, 4_GiB);
    return (collective.bytes / estimate(model, plan_by_library(model, collective, Library{}).steps).makespan).value();
  };
  auto const direct = rate({kAdds, "library.env.NCCL_ALGO=CollNetDirect"});
  EXPECT_GT(direct, 100e9);
  EXPECT_LT(direct, 125e9);
  EXPECT_GT(direct, rate({}) * 1.1);
}

TEST(CollNet, TakesAShareOfTheNicsRate) {
  auto const seconds = [](double efficiency) {
    auto machine = cluster_of("hgx-h100", 4, kRails, {kAdds, "library.env.NCCL_ALGO=NVLS"});
    test::part(machine, "quantum-2-ndr").hop.reduction_efficiency = efficiency;
    Model const model(std::move(machine));
    auto const collective = among_all(model, CollectiveOp::AllReduce, 8_GiB);
    return estimate(model, plan_by_library(model, collective, Library{}).steps).makespan.value();
  };
  // Each NIC of 50 GB/s has 1 GiB, at 10 and at 20 GB/s; the tolerance is that of weights, which are rounded.
  EXPECT_NEAR(seconds(0.2) - seconds(0.4), (1 << 30) / 20e9, 1e-3);
}

TEST(CollNet, SaysWhatKeepsItAway) {
  auto const because = [](std::string const& why) {
    return Contains(HasSubstr("NCCL_COLLNET_ENABLE=1 changes nothing of this plan: " + why));
  };
  EXPECT_THAT(remarks_of(cluster_of("hgx-h100", 2, "kind: rail_optimised, switch: spectrum-4", {kAdds})),
              because("NVIDIA Spectrum-4"));
  EXPECT_THAT(remarks_of(cluster_of("hgx-h100", 2, "kind: rail_optimised", {kAdds})),
              because("the switch of the network, whose part is not known, adds up nothing"));
  EXPECT_THAT(remarks_of(cluster_of("hgx-h100", 2, "kind: single_switch, switch: quantum-2-ndr", {kAdds})),
              Contains(HasSubstr("adds up 2 streams at a time, and 8 NICs of each node are on 'leaf0'")));
  EXPECT_THAT(remarks_of(cluster_of("hgx-h100", 2, kRails, {kAdds, "library.env.NCCL_COLLNET_NODE_THRESHOLD=4"})),
              because("it takes at least 4 nodes"));
  auto machine = catalogue().machine("hgx-h100");
  apply_setting(machine, parse_setting(kAdds), catalogue());
  EXPECT_THAT(remarks_of(std::move(machine)), because("it takes at least 2 nodes"));
}

}  // namespace
}  // namespace lanewise::nccl
