// What each of NCCL's environment variables does to a plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "core/machine/library_variables.hpp"
#include "core/machine/node_kinds.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/setting.hpp"
#include "lanewise/planner/libraries/library.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using namespace literals;
using testing::Contains;
using testing::HasSubstr;

// A collective that shows what a variable does.
struct Shown {
  std::string variable;
  std::string value;
  std::string machine;
  std::vector<std::string> among;
  CollectiveOp op = CollectiveOp::AllReduce;
  Bytes bytes = 512_MiB;
  std::vector<std::string> beside = {};  // other variables, NAME=VALUE
  int minor = 30;
};

std::vector<std::string> const kNode{"gpu0..gpu7"};
std::vector<std::string> const kTwoNodes{"node0/gpu0..node1/gpu7"};
std::vector<std::string> const kTwoRacks{"node0/gpu0..node1/gpu3", "node18/gpu0..node19/gpu3"};

std::vector<std::string> one_gpu_of_each(int nodes) {
  std::vector<std::string> places;
  for (int i = 0; i < nodes; ++i) places.push_back("node" + std::to_string(i) + "/gpu0");
  return places;
}

std::vector<Shown> shown() {
  using enum CollectiveOp;
  return {
      {"NCCL_ALGO", "Ring", "hgx-h100", kNode},
      {"NCCL_PROTO", "LL", "hgx-h100", kNode, AllGather},
      {"NCCL_NTHREADS", "64", "hgx-h100", kNode, AllReduce, 256_KiB, {}, 20},
      {"NCCL_LL128_NTHREADS", "160", "hgx-h100", kNode, AllReduce, 64_KiB, {"NCCL_PROTO=LL128", "NCCL_ALGO=Ring"}, 20},
      {"NCCL_THREAD_THRESHOLDS", "1 1 1 1 1 1", "hgx-h100", kNode, AllReduce, 256_KiB, {}, 20},
      {"NCCL_MIN_NCHANNELS", "32", "hgx-h100", kNode, AllGather},
      {"NCCL_MAX_NCHANNELS", "2", "hgx-h100", kNode, AllGather},
      {"NCCL_MIN_CTAS", "32", "hgx-h100", kNode, AllGather},
      {"NCCL_MAX_CTAS", "2", "hgx-h100", kNode},
      {"NCCL_MAX_P2P_NCHANNELS", "1", "hgx-h100", kNode, AllToAll},
      {"NCCL_NCHANNELS_PER_NET_PEER", "8", "hgx-h100-2", kTwoNodes, AllToAll},
      {"NCCL_P2P_NVL_CHUNKSIZE", "4194304", "hgx-h100", kNode, AllToAll, 1_MiB},
      {"NCCL_P2P_PCI_CHUNKSIZE", "4194304", "a100x8-pcie-4sw", kNode, AllToAll, 1_MiB},
      {"NCCL_P2P_NET_CHUNKSIZE", "4194304", "hgx-h100-2", kTwoNodes, AllToAll, 1_MiB},
      {"NCCL_COLLNET_ENABLE", "1", "hgx-h100-16", {"node0/gpu0..node3/gpu7"}},
      {"NCCL_COLLNET_NODE_THRESHOLD",
       "5",
       "hgx-h100-16",
       {"node0/gpu0..node3/gpu7"},
       AllReduce,
       512_MiB,
       {"NCCL_COLLNET_ENABLE=1"}},
      {"NCCL_NVLS_ENABLE", "0", "hgx-h100", kNode},
      {"NCCL_NVLS_NCHANNELS", "4", "hgx-h100", kNode},
      {"NCCL_NVLS_CHUNKSIZE", "16384", "hgx-h100", kNode},
      {"NCCL_NVLSTREE_MAX_CHUNKSIZE", "16384", "hgx-h100-2", kTwoNodes, AllReduce, 512_MiB, {"NCCL_ALGO=NVLSTree"}},
      {"NCCL_PAT_ENABLE", "0", "hgx-h100-32", one_gpu_of_each(32), AllGather, 64_KiB},
      {"NCCL_LL128_C2C", "0", "gb200-nvl72-8", kTwoRacks, AllGather, 4_MiB, {"NCCL_PROTO=LL128"}},
      {"NCCL_MNNVL_ENABLE", "0", "gb200-nvl72-8", {"node0/gpu0..node1/gpu3"}},
      {"NCCL_NET_OVERHEAD", "100000", "hgx-h100-2", kTwoNodes, AllGather, 1_MiB, {"NCCL_ALGO=Ring"}},
      {"NCCL_P2P_DISABLE", "1", "hgx-h100", kNode, AllGather},
      {"NCCL_P2P_LEVEL", "LOC", "hgx-h100", kNode, AllGather},
      {"NCCL_P2P_READ_ENABLE", "1", "hgx-h100", kNode, AllGather},
      {"NCCL_SHM_DISABLE", "1", "hgx-h100", kNode, AllGather, 512_MiB, {"NCCL_P2P_DISABLE=1", "NCCL_NVLS_ENABLE=0"}},
      {"NCCL_SHM_LOCALITY", "1", "hgx-h100", kNode, AllGather, 512_MiB, {"NCCL_P2P_DISABLE=1", "NCCL_NVLS_ENABLE=0"}},
      {"NCCL_NVB_DISABLE", "1", "dgx-1-v100", kNode, AllToAll},
      {"NCCL_CROSS_NIC", "0", "dgx-h100-2-storage", kTwoNodes, AllGather, 512_MiB, {"NCCL_NVLS_ENABLE=0"}},
      {"NCCL_PXN_DISABLE", "1", "hgx-h100-2", kTwoNodes, AllToAll},
      {"NCCL_P2P_PXN_LEVEL", "0", "hgx-h100-2", kTwoNodes, AllToAll},
      {"NCCL_NET_GDR_LEVEL", "LOC", "hgx-h100-2", kTwoNodes, AllGather},
      {"NCCL_NET_GDR_C2C", "1", "gb200-nvl72-8", {"node0/gpu0", "node18/gpu0"}, AllGather, 512_MiB, {}, 25},
      {"NCCL_NET_GDR_READ", "0", "hgx-h100-2", kTwoNodes, AllGather},
  };
}

Model model_with(std::string const& name, std::vector<std::string> const& variables) {
  static Catalogue catalogue = test::bundled();
  auto machine = catalogue.machine(name);
  for (auto const& variable : variables) apply_setting(machine, parse_setting("library.env." + variable), catalogue);
  return Model(machine);
}

// Nullopt where NCCL refuses.
std::optional<Plan> plan_with(Shown const& shown, std::vector<std::string> const& variables) {
  auto const model = model_with(shown.machine, variables);
  Collective collective{shown.op, {}, shown.bytes};
  for (auto const& range : shown.among)
    for (auto const& one : expand_range(range)) collective.among.push_back(model.machine().place(one));
  try {
    return plan_by_library(model, collective, Library{LibraryKind::Nccl, 2, shown.minor});
  } catch (PlanError const&) {
    return std::nullopt;
  }
}

TEST(NcclVariables, ThoseObeyedChangeThePlan) {
  std::set<std::string> tried;
  for (auto const& one : shown()) {
    auto with = one.beside;
    with.push_back(one.variable + "=" + one.value);
    auto const before = plan_with(one, one.beside);
    auto const after = plan_with(one, with);
    ASSERT_TRUE(before) << one.variable;
    EXPECT_FALSE(after && after->steps == before->steps) << one.variable;
    tried.insert(one.variable);
  }
  for (auto const& variable : library_variables())
    EXPECT_EQ(tried.contains(std::string(variable.name)), variable.why_without_effect.empty()) << variable.name;
}

TEST(NcclVariables, TheOthersSayWhyTheyDoNot) {
  Shown const one{"", "", "hgx-h100-2", kTwoNodes};
  auto const before = plan_with(one, {});
  ASSERT_TRUE(before);
  for (auto const& variable : library_variables()) {
    if (variable.why_without_effect.empty()) continue;
    auto const after = plan_with(one, {std::string(variable.name) + "=1"});
    ASSERT_TRUE(after);
    EXPECT_EQ(after->steps, before->steps) << variable.name;
    EXPECT_THAT(after->library->remarks, Contains(HasSubstr(variable.why_without_effect))) << variable.name;
  }
}

// Among 32 nodes of one GPU five hops instead of 31: PAT. What a rank sends is the same.
TEST(NcclPat, PassesOnBlocksAtPowersOfTwo) {
  for (int const nodes : {8, 27, 32}) {
    Shown const one{"", "", "hgx-h100-32", one_gpu_of_each(nodes), CollectiveOp::AllGather, 64_KiB, {}, 30};
    auto const plan = plan_with(one, {"NCCL_ALGO=PAT"});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->library->algorithm, "PAT");
    std::map<Place, std::int64_t> sent;
    for (auto const& step : plan->steps)
      if (step.way.nic_from) sent[step.from] += step.bytes.value();
    ASSERT_EQ(sent.size(), static_cast<std::size_t>(nodes));
    for (auto const& [place, bytes] : sent)
      EXPECT_NEAR(static_cast<double>(bytes), 65536.0 * (nodes - 1) / nodes, 64) << nodes;
  }
  Shown const of_many{"", "", "hgx-h100-32", one_gpu_of_each(32), CollectiveOp::AllGather, 64_KiB, {}, 30};
  EXPECT_EQ(plan_with(of_many, {})->library->algorithm, "PAT");
  Shown const of_older{"", "", "hgx-h100-32", one_gpu_of_each(32), CollectiveOp::AllGather, 64_KiB, {}, 22};
  EXPECT_NE(plan_with(of_older, {})->library->algorithm, "PAT");
}

// Around a tree of nodes NVLS adds, sends up and down, and multiplies, which shows where there are few rounds.
// Published of two nodes of H200 (xe9680-h200-2-nccl): 150 us of 8 MiB, 1,275 us of 256 MiB. Of two racks of GB200,
// whose switches wait for 72 GPUs (gb200-nvl72-8-coreweave): 793 GB/s of 8 GiB.
TEST(NcclNvls, FillsTheStagesOfATree) {
  auto const time = [](std::string const& machine, std::string const& among, Bytes bytes) {
    auto const plan = plan_with({"", "", machine, {among}, CollectiveOp::AllReduce, bytes}, {"NCCL_ALGO=NVLSTree"});
    return estimate(model_with(machine, {}), plan->steps).makespan;
  };
  EXPECT_NEAR(time("xe9680-h200-32-ecmp", kTwoNodes.front(), 8_MiB) / 150.0_us, 1, 0.1);
  EXPECT_NEAR(time("xe9680-h200-32-ecmp", kTwoNodes.front(), 256_MiB) / 1275.0_us, 1, 0.1);
  EXPECT_NEAR(time("gb200-nvl72-8", "node0/gpu0..node35/gpu3", 8_GiB) / 21'510.0_us, 1, 0.1);
}

}  // namespace
}  // namespace lanewise
