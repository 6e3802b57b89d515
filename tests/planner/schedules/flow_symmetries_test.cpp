// Which transfers of a set take one another's place.
#include "core/planner/schedules/flow_symmetries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/planner/schedules/configuration_program.hpp"
#include "tests/support/all_to_all.hpp"
#include "tests/support/parameter_name.hpp"

namespace lanewise {
namespace {

using namespace literals;
using test::AllToAll;

std::map<std::uint32_t, int> sizes(std::vector<std::uint32_t> const& kinds) {
  std::map<std::uint32_t, int> result;
  for (auto const kind : kinds) ++result[kind];
  return result;
}

TEST(FlowSymmetries, TellTransfersByTheSwitchesBetweenThem) {
  AllToAll const planned("a100x8-pcie-4sw");
  CandidateFlows const flows(planned.set, planned.model);
  FlowSymmetries const symmetries(planned.set, planned.model, flows);
  std::vector<int> counts;
  for (auto const& [kind, count] : sizes(symmetries.kinds())) counts.push_back(count);
  // Below one switch, below two of one socket, and across sockets.
  EXPECT_THAT(counts, testing::UnorderedElementsAre(8, 16, 32));
}

TEST(FlowSymmetries, KnowOneKindWhereOnlyNvswitchIsUsed) {
  AllToAll planned("hgx-h100");
  planned.set = without_options(planned.set, [](TransferOption const& option, auto const&, auto const&) {
    return option.way.mechanism != Mechanism::Nvlink;
  });
  CandidateFlows const flows(planned.set, planned.model);
  FlowSymmetries const symmetries(planned.set, planned.model, flows);
  EXPECT_EQ(sizes(symmetries.kinds()).size(), 1U);
}

TEST(FlowSymmetries, SeeThatOneTransferIsLarger) {
  AllToAll planned("hgx-h100");
  planned.set.transfers.front().bytes = 65_MiB;
  CandidateFlows const flows(planned.set, planned.model);
  FlowSymmetries const symmetries(planned.set, planned.model, flows);
  auto const& kinds = symmetries.kinds();
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), kinds.front()), 1);
  EXPECT_FALSE(symmetries.empty());  // the six GPUs that it does not join are still alike
}

// A GPU that copies to itself too differs from one that does not, or that copies as much.
TEST(FlowSymmetries, SeeWhatAGpuCopiesToItself) {
  AllToAll planned("hgx-h100");
  auto const add_copy_to_itself = [&](std::size_t gpu, Bytes bytes) {
    auto transfer = planned.set.transfers.front();
    transfer.from = transfer.to = planned.machine.all(PciKind::Gpu)[gpu];
    transfer.bytes = bytes;
    planned.set.transfers.push_back(transfer);
    planned.set.default_option.push_back(planned.set.default_option.front());
  };
  add_copy_to_itself(0, 64_MiB);
  add_copy_to_itself(1, 32_MiB);
  CandidateFlows const flows(planned.set, planned.model);
  FlowSymmetries const symmetries(planned.set, planned.model, flows);
  auto const& kinds = symmetries.kinds();
  for (auto const transfer : {std::size_t{0}, kinds.size() - 2, kinds.size() - 1})  // 0: between these two GPUs
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), kinds[transfer]), 1);
}

TEST(FlowSymmetries, AreNotSoughtAmongSeveralTransfersOfOnePair) {
  AllToAll planned("hgx-h100");
  planned.set.transfers[1].to = planned.set.transfers[0].to;
  CandidateFlows const flows(planned.set, planned.model);
  EXPECT_TRUE(FlowSymmetries(planned.set, planned.model, flows).empty());
}

// The machines differ in what makes flows alike: PCIe switches, a mesh of NVLink whose pairs have one link or two and
// relay for others, xGMI.
class Symmetries : public testing::TestWithParam<char const*> {};

TEST_P(Symmetries, LeaveRatesAsTheyAre) {
  AllToAll const planned(GetParam());
  CandidateFlows flows(planned.set, planned.model);
  FlowSymmetries const symmetries(planned.set, planned.model, flows);
  ASSERT_FALSE(symmetries.empty());
  std::vector<std::uint32_t> all(flows.size());
  std::iota(all.begin(), all.end(), 0U);
  std::mt19937 random(1);
  for (auto const& permutation : symmetries.generators()) {
    EXPECT_THAT(permutation, testing::UnorderedElementsAreArray(all));
    std::vector<std::uint32_t> some;
    for (std::uint32_t flow = 0; flow < flows.size(); ++flow)
      if (random() % 8 == 0) some.push_back(flow);
    flows.share(some);
    std::vector<double> rates;
    for (auto const flow : some) rates.push_back(flows.rate(flow));
    std::vector<std::uint32_t> images;
    for (auto const flow : some) images.push_back(permutation[flow]);
    flows.share(images);
    for (std::size_t k = 0; k < some.size(); ++k) {
      EXPECT_NEAR(flows.rate(images[k]), rates[k], 1e-9 * rates[k]);
      EXPECT_EQ(symmetries.kinds_of_flows()[images[k]], symmetries.kinds_of_flows()[some[k]]);
    }
  }
}

struct Shortest {
  double seconds = std::numeric_limits<double>::infinity();
  std::vector<double> moved;  // bytes of each transfer
};
Shortest shortest_schedule(TransferSet const& set, Model const& model) {
  Shortest shortest;
  ConfigurationProgram program(set, model);
  program.solve();
  for (auto const& schedule : program.solve()) {  // the second time from what is known
    Seconds makespan{0};
    std::vector<double> moved(set.transfers.size(), 0);
    for (auto const& slice : schedule.slices) {
      makespan += slice.duration;
      for (auto const& moving : slice.moving) moved[moving.transfer] += moving.bytes;
    }
    if (makespan.value() < shortest.seconds) shortest = {makespan.value(), std::move(moved)};
  }
  return shortest;
}

// A row for each kind instead of each transfer: all bytes move, in about the time of a set without symmetries.
TEST_P(Symmetries, GiveSchedulesOfAllTransfers) {
  AllToAll planned(GetParam());
  auto const alike = shortest_schedule(planned.set, planned.model);
  EXPECT_THAT(alike.moved, testing::Each(testing::DoubleNear(64 << 20, 16)));
  for (std::size_t i = 0; i < planned.set.transfers.size(); ++i)
    planned.set.transfers[i].bytes += Bytes(static_cast<std::int64_t>(i));
  EXPECT_LT(alike.seconds, 1.02 * shortest_schedule(planned.set, planned.model).seconds);
}

INSTANTIATE_TEST_SUITE_P(Machines, Symmetries,
                         testing::Values("a100x8-pcie-4sw", "dgx-1-v100", "epyc-mi60-x8", "mi300x-x8"),
                         [](auto const& machine) { return test::parameter_name(machine.param); });

}  // namespace
}  // namespace lanewise
