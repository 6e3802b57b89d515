// Collectives as RCCL, MPI and inference engines do them, against closed forms by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/machine/node_kinds.hpp"
#include "core/planner/libraries/rccl/tuning.hpp"
#include "core/planner/libraries/steps/link_shares.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/setting.hpp"
#include "lanewise/planner/libraries/library.hpp"
#include "tests/support/machines.hpp"

namespace lanewise {
namespace {

using namespace literals;
using testing::Contains;
using testing::HasSubstr;

Library const kRccl{.kind = LibraryKind::Rccl};
Library const kMpi{.kind = LibraryKind::Mpi};
Library const kOneShot{.kind = LibraryKind::OneShot};

Model model_of(std::string const& name, std::vector<std::string> const& settings = {}) {
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  auto machine = catalogue.machine(name);
  for (auto const& text : settings) apply_setting(machine, parse_setting(text), catalogue);
  return Model(machine);
}

Collective collective_of(Model const& model, CollectiveOp op, std::string const& among, Bytes bytes) {
  Collective collective{op, {}, bytes};
  for (auto const& one : expand_range(among)) collective.among.push_back(model.machine().place(one));
  return collective;
}

BytesPerSecond bus_bandwidth_of(std::string const& machine, CollectiveOp op, std::string const& among, Bytes bytes,
                                Library const& library) {
  auto const model = model_of(machine);
  auto const collective = collective_of(model, op, among, bytes);
  auto const plan = plan_by_library(model, collective, library);
  return bus_bandwidth(collective, estimate(model, plan.steps).makespan);
}

std::string error_of(std::string const& machine, CollectiveOp op, std::string const& among, Library const& library) {
  auto const model = model_of(machine);
  try {
    plan_by_library(model, collective_of(model, op, among, 16_MiB), library);
  } catch (PlanError const& problem) {
    return problem.what();
  }
  return "";
}

TEST(DisjointPaths, UseEveryLinkOnceInEachDirection) {
  for (std::size_t const count : {2U, 4U, 6U, 8U, 12U}) {
    auto const paths = disjoint_paths(count);
    ASSERT_EQ(paths.size(), count);
    std::set<std::pair<std::size_t, std::size_t>> links;
    std::set<std::size_t> first;
    std::set<std::size_t> last;
    for (auto const& path : paths) {
      EXPECT_EQ(std::set<std::size_t>(path.begin(), path.end()).size(), count);
      for (std::size_t i = 0; i + 1 < path.size(); ++i) links.emplace(path[i], path[i + 1]);
      first.insert(path.front());
      last.insert(path.back());
    }
    EXPECT_EQ(links.size(), count * (count - 1));
    EXPECT_EQ(first.size(), count);
    EXPECT_EQ(last.size(), count);
  }
}

// RCCL's 48 GB/s of each of seven links (src/graph/topo.h); fewer GPUs use fewer links.
TEST(Rccl, ReachesTheSumOfItsLinks) {
  auto const of = [](std::string const& among) {
    return bus_bandwidth_of("mi300x-x8", CollectiveOp::AllReduce, among, 4_GiB, kRccl);
  };
  EXPECT_NEAR(of("gpu0..gpu7") / 336.0_GBps, 1, 0.01);
  EXPECT_NEAR(of("gpu0..gpu3") / 144.0_GBps, 1, 0.01);
  EXPECT_NEAR(of("gpu0..gpu1") / 48.0_GBps, 1, 0.01);
  auto const broadcast = bus_bandwidth_of("mi300x-x8", CollectiveOp::Broadcast, "gpu0..gpu7", 4_GiB, kRccl);
  EXPECT_NEAR(broadcast / 336.0_GBps, 1, 0.01);
}

// Below half a mebibyte in words with flags, all pairs at once: a step each way.
TEST(Rccl, ExchangesFewBytesAllAtOnce) {
  auto const model = model_of("mi300x-x8");
  auto const choice = [&](Bytes bytes) {
    auto const plan = plan_by_library(model, collective_of(model, CollectiveOp::AllReduce, "gpu0..gpu7", bytes), kRccl);
    return plan.library->algorithm + " " + plan.library->protocol;
  };
  EXPECT_EQ(choice(64_KiB), "Direct LL");
  EXPECT_EQ(choice(512_KiB), "Direct Simple");
  EXPECT_EQ(choice(16_MiB), "Direct Simple");
  EXPECT_EQ(choice(64_MiB), "Ring Simple");
}

// Nothing hides what a GPU adds before it sends the sums: 16 MiB at 440 GB/s.
TEST(Rccl, AddsBetweenTwoExchanges) {
  auto const model = model_of("mi300x-x8");
  auto const time = [&](CollectiveOp op) {
    auto const collective = collective_of(model, op, "gpu0..gpu7", 16_MiB);
    return estimate(model, plan_by_library(model, collective, kRccl).steps).makespan;
  };
  auto const exchanged = 2.0 * time(CollectiveOp::AllGather) - Seconds(17e-6);  // two exchanges, one launch
  EXPECT_NEAR((time(CollectiveOp::AllReduce) - exchanged) / (16_MiB / 440.0_GBps), 1, 0.02);
}

// What RCCL's estimates give, by hand from its tables: trees for few bytes, of which four nodes have more.
TEST(Rccl, TakesTreesBetweenNodesForFewBytes) {
  using namespace rccl;
  auto const largest_by_tree = [](std::size_t nodes, Chip chip) {
    Bytes largest(0);
    for (auto bytes = 64_KiB; bytes <= 16_GiB; bytes = Bytes(2 * bytes.value()))
      if (choose(CollectiveOp::AllReduce, static_cast<double>(bytes.value()), {nodes, 8, chip, true}).algorithm ==
          AlgorithmKind::Tree)
        largest = bytes;
    return largest;
  };
  EXPECT_EQ(largest_by_tree(2, Chip::Gfx942), 64_MiB);
  EXPECT_EQ(largest_by_tree(4, Chip::Gfx942), 512_MiB);
  EXPECT_EQ(largest_by_tree(2, Chip::Gfx950), 32_MiB);
  EXPECT_EQ(largest_by_tree(16, Chip::Gfx950), 2_GiB);
}

// By what each rank has: up to 512 KiB LL, up to 4.2 MiB LL128 between two nodes and 3.8 times as much between more.
TEST(Rccl, TakesTheProtocolByWhatARankHas) {
  using namespace rccl;
  auto const protocol = [](Bytes bytes, std::size_t nodes) {
    Communicator const communicator{nodes, 8, Chip::Gfx942, true};
    return choose(CollectiveOp::AllReduce, static_cast<double>(bytes.value()), communicator).protocol;
  };
  EXPECT_EQ(protocol(8_MiB, 2), Protocol::LL);
  EXPECT_EQ(protocol(16_MiB, 2), Protocol::LL128);
  EXPECT_EQ(protocol(64_MiB, 2), Protocol::LL128);
  EXPECT_EQ(protocol(128_MiB, 2), Protocol::Simple);
  EXPECT_EQ(protocol(512_MiB, 4), Protocol::LL128);
  EXPECT_EQ(protocol(1_GiB, 4), Protocol::Simple);
}

// Eight chains, each with an eighth, up and down: four on every link of a node each way.
TEST(Rccl, TreesUseEveryLinkAlike) {
  auto const model = model_of("mi300x-x8-rails-2");
  auto const collective = collective_of(model, CollectiveOp::AllReduce, "node0/gpu0..node1/gpu7", 32_MiB);
  auto const plan = plan_by_library(model, collective, kRccl);
  EXPECT_EQ(plan.library->algorithm + " " + plan.library->protocol, "Tree LL128");
  std::map<std::pair<Place, Place>, double> carried;
  for (auto const& step : plan.steps)
    if (!step.way.nic_from && step.from != step.to)
      carried[{step.from, step.to}] += static_cast<double>(step.bytes.value());
  EXPECT_EQ(carried.size(), 2U * 8 * 7);
  for (auto const& [link, bytes] : carried) EXPECT_NEAR(bytes, (1 << 25) / 4.0 * 128 / 120, 64);
}

// Between two nodes all eight NICs carry 2 S (n - 1) / n / 8 each way.
TEST(Rccl, IsHeldByTheNicsBetweenNodes) {
  auto const model = model_of("mi300x-x8-rails-2");
  auto const collective = collective_of(model, CollectiveOp::AllReduce, "node0/gpu0..node1/gpu7", 4_GiB);
  auto const plan = plan_by_library(model, collective, kRccl);
  std::map<PciId, std::int64_t> sent;
  for (auto const& step : plan.steps)
    if (step.way.nic_from) sent[*step.way.nic_from] += step.bytes.value();
  EXPECT_EQ(sent.size(), 16U);
  for (auto const& [nic, bytes] : sent)
    EXPECT_NEAR(static_cast<double>(bytes), 2.0 * 15 / 16 / 8 * static_cast<double>((4_GiB).value()), 16);
}

TEST(Rccl, SaysWhatIsNotKnown) {
  EXPECT_THAT(error_of("hgx-h100", CollectiveOp::AllReduce, "gpu0..gpu7", kRccl),
              HasSubstr("where xGMI joins every two GPUs of a node; no xGMI joins 'gpu0' and 'gpu1'"));
  EXPECT_THAT(error_of("mi300x-x8", CollectiveOp::Chain, "gpu0..gpu7", kRccl),
              HasSubstr("what RCCL does for chain is not known"));
}

// A ring's data pass no hop to the root of a broadcast and none from that of a reduction; gather and scatter are
// messages of a part between the root and every other.
TEST(Libraries, WithARootDoWhatIsNeeded) {
  for (auto const& of : {std::pair("hgx-h100", Library{}), std::pair("mi300x-x8", kRccl)}) {
    auto const& machine = of.first;
    auto const& library = of.second;
    auto const model = model_of(machine);
    auto const ends_of = [&](CollectiveOp op) {
      auto collective = collective_of(model, op, "gpu0..gpu7", 256_MiB);
      collective.root = 3;
      auto const root = collective.among[3];
      std::map<std::string, double> bytes;
      for (auto const& step : plan_by_library(model, collective, library).steps) {
        if (step.from == step.to) continue;
        auto const share = static_cast<double>(step.bytes.value()) / static_cast<double>((256_MiB).value());
        bytes["to root"] += step.to == root ? share : 0;
        bytes["from root"] += step.from == root ? share : 0;
        bytes["all"] += share;
      }
      return bytes;
    };
    auto const broadcast = ends_of(CollectiveOp::Broadcast);
    EXPECT_EQ(broadcast.at("to root"), 0) << machine;
    EXPECT_NEAR(broadcast.at("from root"), broadcast.at("all") / 7, 1e-6) << machine;
    auto const reduce = ends_of(CollectiveOp::Reduce);
    EXPECT_EQ(reduce.at("from root"), 0) << machine;
    EXPECT_NEAR(reduce.at("to root"), reduce.at("all") / 7, 1e-6) << machine;
    auto const part = send_efficiency(8) * 8;
    auto const gather = ends_of(CollectiveOp::Gather);
    EXPECT_EQ(gather.at("from root"), 0) << machine;
    EXPECT_NEAR(gather.at("to root") * part, 7, 1e-3) << machine;
    EXPECT_EQ(gather.at("to root"), gather.at("all")) << machine;
    auto const scatter = ends_of(CollectiveOp::Scatter);
    EXPECT_NEAR(scatter.at("from root") * part, 7, 1e-3) << machine;
    EXPECT_EQ(scatter.at("from root"), scatter.at("all")) << machine;
  }
}

// What MPI reduces goes to host memory from every GPU, and comes back to the root alone.
TEST(Mpi, ReducesToTheRoot) {
  auto const model = model_of("hgx-h100");
  auto collective = collective_of(model, CollectiveOp::Reduce, "gpu0..gpu3", 64_MiB);
  collective.root = 2;
  auto const plan = plan_by_library(model, collective, kMpi);
  std::map<std::string, std::vector<Place>> back;
  for (auto const& step : plan.steps) {
    if (step.transfer == "from host") back["to"].push_back(step.to);
    if (step.transfer == "to host") back["from"].push_back(step.from);
  }
  EXPECT_EQ(back.at("to"), std::vector<Place>{collective.among[2]});
  EXPECT_EQ(back.at("from").size(), 4U);
}

// S to host memory, 2 S (n - 1) / n by one core of each rank, S back; nothing overlaps.
TEST(Mpi, StagesWhatItReduces) {
  auto const model = model_of("hgx-h100");
  auto const collective = collective_of(model, CollectiveOp::AllReduce, "gpu0..gpu1", 64_MiB);
  auto const plan = plan_by_library(model, collective, kMpi);
  std::map<std::string, Bytes> bytes;
  for (auto const& step : plan.steps) bytes[step.transfer] += step.bytes;
  EXPECT_EQ(bytes.at("to host"), 128_MiB);
  EXPECT_EQ(bytes.at("on the host"), 128_MiB);
  EXPECT_EQ(bytes.at("from host"), 128_MiB);
  auto const run = estimate(model, plan.steps);
  Seconds ended{0};
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].transfer == "on the host") ended = std::max(ended, run.steps[i].end);
    EXPECT_TRUE(plan.steps[i].transfer != "from host" || run.steps[i].start >= ended);
  }
}

TEST(Mpi, SendsFromGpuToGpuWhatOnlyMoves) {
  auto const model = model_of("hgx-h100");
  auto const plan = [&](CollectiveOp op, Bytes bytes) {
    return plan_by_library(model, collective_of(model, op, "gpu0..gpu7", bytes), kMpi);
  };
  EXPECT_EQ(plan(CollectiveOp::AllToAll, 64_KiB).library->protocol, "staged");
  auto const large = plan(CollectiveOp::AllToAll, 64_MiB);
  EXPECT_EQ(large.library->protocol, "device");
  EXPECT_EQ(large.steps.size(), 8U + 56U);
  EXPECT_EQ(large.steps.back().way.mechanism, Mechanism::Nvlink);
  EXPECT_EQ(plan(CollectiveOp::Broadcast, 64_MiB).steps.size(), 8U + 7U);
}

// Without peer access as the driver does it, and across nodes over the NICs.
TEST(Mpi, GoesTheWaysThatAreLegal) {
  auto const model = model_of("rtx4090-x2");
  auto const plan = plan_by_library(model, collective_of(model, CollectiveOp::AllGather, "gpu0..gpu1", 64_MiB), kMpi);
  for (auto const& step : plan.steps)
    EXPECT_TRUE(step.bytes == Bytes(0) || step.way.mechanism == Mechanism::HostStaged);
  auto const cluster = model_of("hgx-h100-2");
  auto const reduced =
      plan_by_library(cluster, collective_of(cluster, CollectiveOp::AllReduce, "node0/gpu0..node1/gpu7", 64_MiB), kMpi);
  EXPECT_TRUE(std::any_of(reduced.steps.begin(), reduced.steps.end(),
                          [](Step const& step) { return step.way.mechanism == Mechanism::Rdma; }));
}

// Bytes in of a GPU: (n - 1) S in one phase, 2 S (n - 1) / n in two.
TEST(OneShot, LoadsWhatTheKernelLoads) {
  auto const model = model_of("hgx-h100");
  auto const bytes_in = [&](std::string const& among, Bytes bytes) {
    auto const collective = collective_of(model, CollectiveOp::AllReduce, among, bytes);
    auto const plan = plan_by_library(model, collective, kOneShot);
    Bytes in{0};
    for (auto const& step : plan.steps)
      if (step.to == collective.among.front() && step.from != step.to) in += step.bytes;
    return std::pair(plan.library->algorithm, in);
  };
  EXPECT_EQ(bytes_in("gpu0..gpu7", 128_KiB), std::pair(std::string("one-shot"), 896_KiB));
  EXPECT_EQ(bytes_in("gpu0..gpu7", 1_MiB), std::pair(std::string("two-shot"), 1792_KiB));
  EXPECT_EQ(bytes_in("gpu0..gpu3", 256_KiB).first, "one-shot");
  EXPECT_EQ(bytes_in("gpu0..gpu3", 512_KiB).first, "two-shot");
  EXPECT_EQ(bytes_in("gpu0..gpu1", 8_MiB).first, "one-shot");
}

TEST(OneShot, LeavesTheRestToNccl) {
  auto const model = model_of("hgx-h100");
  auto const plan =
      plan_by_library(model, collective_of(model, CollectiveOp::AllReduce, "gpu0..gpu7", 16_MiB), kOneShot);
  EXPECT_EQ(plan.library->library, "nccl-2.30");
  EXPECT_THAT(plan.library->remarks, Contains(HasSubstr("above 8 MiB")));
  auto const gather = collective_of(model, CollectiveOp::AllGather, "gpu0..gpu7", 1_MiB);
  EXPECT_THROW(plan_by_library(model, gather, kOneShot), PlanError);
}

TEST(OneShot, SaysWhichGpusItIsFor) {
  auto const model = model_of("rtx6000pro-x8-genoa");
  auto const plan = [&](std::string const& among) {
    return plan_by_library(model, collective_of(model, CollectiveOp::AllReduce, among, 1_MiB), kOneShot);
  };
  EXPECT_NO_THROW(plan("gpu0..gpu1"));
  EXPECT_THROW(plan("gpu0..gpu3"), PlanError);
  EXPECT_THROW(plan("gpu0..gpu2"), PlanError);
}

// Half of the 152 multiprocessors of a GB200, which send or receive with a warp for each GPU, up to eight in a block.
// Of a token of 14336 B, 112 x 128 B, 8 x 128 B of flags pass too.
TEST(OneShot, TokensAreExchangedByWarps) {
  auto const model = model_of("gb200-nvl72-8");
  auto const plan = [&](std::string const& among, Bytes bytes) {
    return plan_by_library(model, collective_of(model, CollectiveOp::AllToAll, among, bytes), kOneShot);
  };
  auto const of_eight = plan("node0/gpu0..node1/gpu3", 448_MiB);
  EXPECT_EQ(of_eight.library->algorithm, "token exchange");
  std::size_t exchanged = 0;
  for (auto const& step : of_eight.steps) {
    if (step.work > Seconds(0)) continue;
    EXPECT_EQ(step.way.warps, 38);
    EXPECT_EQ(step.way.warps_per_block, 8);
    EXPECT_EQ(step.bytes, Bytes(448 * 1024 * 1024 / 8 / 14336 * 15360));
    ++exchanged;
  }
  EXPECT_EQ(exchanged, 56U);
  EXPECT_EQ(plan("node0/gpu0..node0/gpu1", 1_MiB).steps.back().way.warps_per_block, 2);
  EXPECT_EQ(plan("node0/gpu0..node3/gpu3", 1_MiB).library->channels, 19);
  EXPECT_EQ(plan("node0/gpu0..node15/gpu3", 1_MiB).library->channels, 4);
  EXPECT_THAT(text_of(of_eight.steps.back().way, model.machine()), HasSubstr(", 38 warps, 8 in a block"));
}

// 4,096 tokens of each of four GB200, 1,024 to each GPU; 27 rounds of 38 channels, each as long as four warps of a
// multiprocessor take for a token.
TEST(OneShot, AnExchangeTakesAsLongAsItsWarps) {
  auto const model = model_of("gb200-nvl72-8");
  auto const collective = collective_of(model, CollectiveOp::AllToAll, "node0/gpu0..node0/gpu3", Bytes(4096 * 14336));
  auto const plan = plan_by_library(model, collective, kOneShot);
  auto const round = 15360 / std::min(7.1e9, 19.3e9 / 4);
  EXPECT_NEAR(estimate(model, plan.steps).makespan.value(), 5.4e-6 + 27 * round, 3e-6);
}

TEST(OneShot, TokensAreExchangedOverNvlinkOnly) {
  auto const refused = [](std::string const& machine, std::string const& among) {
    auto const model = model_of(machine);
    try {
      plan_by_library(model, collective_of(model, CollectiveOp::AllToAll, among, 1_MiB), kOneShot);
    } catch (PlanError const& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refused("rtx6000pro-x8-genoa", "gpu0..gpu7"), HasSubstr("nothing joins 'gpu0' and 'gpu1'"));
  EXPECT_THAT(refused("mi300x-x8", "gpu0..gpu7"), HasSubstr("NVIDIA's GPUs from Hopper on, and 'gpu0' is none"));
  EXPECT_THAT(refused("dgx-a100", "gpu0..gpu7"), HasSubstr("NVIDIA's GPUs from Hopper on, and 'gpu0' is none"));
  EXPECT_THAT(refused("hgx-h100-2", "node0/gpu0..node1/gpu7"), HasSubstr("GPUs that NVLink joins"));
  auto const h100 = model_of("hgx-h100");
  auto const plan = plan_by_library(h100, collective_of(h100, CollectiveOp::AllToAll, "gpu0..gpu7", 1_MiB), kOneShot);
  EXPECT_THAT(plan.library->remarks, Contains(HasSubstr("measured on GB200")));
}

// ------------------------------------------------------------------------------- NCCL over nodes, by NICs of receivers

Plan exchange_of(Model const& model, std::vector<std::string> const& among) {
  Collective collective{CollectiveOp::AllToAll, {}, 1_GiB};
  for (auto const& range : among)
    for (auto const& place : collective_of(model, CollectiveOp::AllToAll, range, 1_GiB).among)
      collective.among.push_back(place);
  return plan_by_library(model, collective, {.kind = LibraryKind::Nccl, .minor = 28});
}

TEST(Nccl, SendsByTheReceiversNicThroughItsOwner) {
  auto const model = model_of("hgx-h100-2");
  auto const plan = exchange_of(model, {"node0/gpu0..node1/gpu7"});
  auto const& machine = model.machine();
  std::size_t relayed = 0;
  for (auto const& step : plan.steps) {
    if (!step.way.nic_from) continue;
    auto const from = machine.name_of(step.from);
    auto const to = machine.name_of(step.to);
    auto const nic = machine.at(*step.way.nic_to).name;
    EXPECT_EQ(nic.substr(nic.find("/nic") + 4), to.substr(to.find("/gpu") + 4)) << from << " > " << to;
    EXPECT_EQ(short_name(machine.at(*step.way.nic_from).name), short_name(nic)) << "on one rail";
    if (from.back() / 2 == to.back() / 2) continue;  // below the switch of that NIC itself
    ++relayed;
    ASSERT_TRUE(step.way.relay) << from << " > " << to;
    EXPECT_EQ(machine.at(*step.way.relay).name.back(), to.back());
    EXPECT_GT(step.way.blocks, 0) << "by the kernel, not a copy engine";
  }
  EXPECT_EQ(relayed, 2U * 8 * 6);
}

TEST(Nccl, WithoutRelaysEachEndTakesItsOwnNic) {
  auto const model = model_of("hgx-h100-2", {"library.env.NCCL_PXN_DISABLE=1"});
  auto const& machine = model.machine();
  for (auto const& step : exchange_of(model, {"node0/gpu0..node1/gpu7"}).steps) {
    if (!step.way.nic_from) continue;
    EXPECT_FALSE(step.way.relay);
    EXPECT_EQ(machine.at(*step.way.nic_from).name.back(), machine.name_of(step.from).back());
    EXPECT_EQ(machine.at(*step.way.nic_to).name.back(), machine.name_of(step.to).back());
  }
}

TEST(Nccl, ChannelsOfAPeerTakeAllPortsOfAGpu) {
  auto const model = model_of("oci-b300-2");
  std::map<std::string, std::set<std::string>> ports;
  for (auto const& step : exchange_of(model, {"node0/gpu0..node1/gpu7"}).steps)
    if (step.way.nic_to) ports[model.machine().name_of(step.to)].insert(model.machine().at(*step.way.nic_to).name);
  ASSERT_EQ(ports.size(), 16U);
  for (auto const& [gpu, nics] : ports) EXPECT_EQ(nics.size(), 2U) << gpu;
}

// A communicator of two racks of NVLink: a node of NCCL's is a rack, with the NICs of all its hosts.
TEST(Nccl, ARackUsesTheNicsOfAllItsHosts) {
  auto const model = model_of("gb200-nvl72-8");
  auto const& machine = model.machine();
  auto const plan = exchange_of(model, {"node0/gpu0..node1/gpu3", "node18/gpu0..node19/gpu3"});
  std::set<std::string> nics;
  for (auto const& step : plan.steps) {
    if (!step.way.nic_from) continue;
    EXPECT_NE(step.way.mechanism, Mechanism::NetStaged) << "GPUs reach NICs over NVLink-C2C";
    nics.insert(machine.at(*step.way.nic_from).name);
    auto const holder = step.way.relay.value_or(std::get<PciId>(step.from));
    EXPECT_EQ(machine.host_of(holder), machine.host_of(*step.way.nic_from));
  }
  EXPECT_EQ(nics.size(), 16U) << "four of each of four hosts";
}

// Without peer access a kernel writes to host memory: no copy engine takes the sends one after the other.
TEST(Nccl, StagedSendsTakeNoCopyEngine) {
  auto const model = model_of("hgx-h100-2", {"library.env.NCCL_NET_GDR_LEVEL=LOC", "library.env.NCCL_PXN_DISABLE=1"});
  std::size_t staged = 0;
  for (auto const& step : exchange_of(model, {"node0/gpu0..node1/gpu7"}).steps) {
    if (step.way.mechanism != Mechanism::NetStaged) continue;
    ++staged;
    EXPECT_TRUE(model.lower(step.from, step.to, step.bytes, step.op, step.way).engines.empty());
  }
  EXPECT_EQ(staged, 2U * 8 * 8);
}

}  // namespace
}  // namespace lanewise
