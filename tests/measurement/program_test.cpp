// What a benchmark program waits for and times, and that the model, run the same way, gives what the programs printed.
#include "core/measurement/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/measurement/measured_transfer.hpp"
#include "lanewise/sim/simgrid_executor.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Request copy(std::uint32_t from, std::uint32_t to) {
  return {.id = {}, .from = PciId(from), .to = PciId(to), .bytes = Bytes(100)};
}
// 0 to 1, 0 to 2, 1 to 0, 1 to 2, 2 to 0, 2 to 1.
std::vector<Request> all_of_three() {
  std::vector<Request> flows;
  for (std::uint32_t from = 0; from < 3; ++from)
    for (std::uint32_t to = 0; to < 3; ++to)
      if (from != to) flows.push_back(copy(from, to));
  return flows;
}
std::vector<std::vector<std::size_t>> waits_of(std::vector<Request> const& requests) {
  std::vector<std::vector<std::size_t>> waits;
  for (auto const& request : requests) waits.push_back(request.after);
  return waits;
}
std::vector<std::vector<std::size_t>> waits_under(MeasuredProgram const& program) {
  std::mt19937 random;
  return waits_of(issued(program, all_of_three(), random));
}

TEST(Program, ByItselfACopyWaitsForNothing) {
  EXPECT_THAT(waits_under({}), ElementsAre(IsEmpty(), IsEmpty(), IsEmpty(), IsEmpty(), IsEmpty(), IsEmpty()));
}

TEST(Program, CopiesIntoOneGpuFollowOneAnotherWhereTheProgramWaitsThere) {
  EXPECT_THAT(waits_under({.waits = CopyWaits::Destination}),
              ElementsAre(IsEmpty(), IsEmpty(), IsEmpty(), ElementsAre(1U), ElementsAre(2U), ElementsAre(0U)));
  EXPECT_EQ(waits_under({.stream = CopyStream::Destination}), waits_under({.waits = CopyWaits::Destination}));
}

TEST(Program, AStreamOfTheSourceKeepsItsOrder) {
  EXPECT_THAT(waits_under({.stream = CopyStream::Source}),
              ElementsAre(IsEmpty(), ElementsAre(0U), IsEmpty(), ElementsAre(2U), IsEmpty(), ElementsAre(4U)));
}

TEST(Program, TheLegacyDefaultStreamHoldsBothGpus) {
  EXPECT_THAT(waits_under({.stream = CopyStream::LegacyDefault}),
              ElementsAre(IsEmpty(), ElementsAre(0U), ElementsAre(0U, 1U), ElementsAre(0U, 1U, 2U),
                          ElementsAre(0U, 1U, 2U, 3U), ElementsAre(0U, 1U, 2U, 3U, 4U)));
}

TEST(Program, RoundsFollowOneAnotherInEachFlowsStreamOnly) {
  std::mt19937 random;
  auto const requests = issued({.rounds = 2}, {copy(0, 1), copy(1, 0)}, random);
  EXPECT_THAT(waits_of(requests), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0U), ElementsAre(1U)));
  EXPECT_EQ(requests[3].id, "1.1");
}

TEST(Program, RotatedMeansTheNearestNeighbourFirst) {
  std::mt19937 random;
  auto const requests = issued({.issue = IssueOrder::Rotated}, all_of_three(), random);
  std::vector<std::string> order;
  for (auto const& request : requests) order.push_back(request.id);
  EXPECT_THAT(order, ElementsAre("0.0", "3.0", "4.0", "1.0", "2.0", "5.0"));  // 0>1 1>2 2>0, then 0>2 1>0 2>1
}

TEST(Program, UnorderedIsAnotherOrderEachTimeAndTheSameFromTheSameStart) {
  MeasuredProgram const program{.issue = IssueOrder::Unordered};
  std::mt19937 random;
  auto const first = issued(program, all_of_three(), random);
  auto const second = issued(program, all_of_three(), random);
  std::mt19937 again;
  auto const repeated = issued(program, all_of_three(), again);
  auto const ids = [](std::vector<Request> const& requests) {
    std::vector<std::string> found;
    for (auto const& request : requests) found.push_back(request.id);
    return found;
  };
  EXPECT_NE(ids(first), ids(second));
  EXPECT_EQ(ids(first), ids(repeated));
  EXPECT_THAT(ids(first), testing::UnorderedElementsAre("0.0", "1.0", "2.0", "3.0", "4.0", "5.0"));
}

Trace ends(std::vector<std::pair<std::string, double>> const& steps) {
  Trace trace;
  for (auto const& [id, end] : steps) {
    StepTrace step;
    step.transfer = id;
    step.end = Seconds(end);
    trace.steps.push_back(std::move(step));
  }
  return trace;
}

TEST(ProgramRate, IsOfWhatTheProgramWaitsFor) {
  std::vector<Request> const flows{copy(0, 1), copy(2, 0), copy(1, 2)};
  auto const trace = ends({{"0.0", 5}, {"1.0", 10}, {"2.0", 2}});
  EXPECT_DOUBLE_EQ(program_rate({}, flows, trace), 300 / 10.0);
  EXPECT_DOUBLE_EQ(program_rate({.timed = TimedBy::LastSource}, flows, trace), 300 / 2.0);
  EXPECT_DOUBLE_EQ(program_rate({.timed = TimedBy::LastDestination}, flows, trace), 300 / 2.0);
  EXPECT_DOUBLE_EQ(program_rate({.timed = TimedBy::Mean}, flows, trace), 20 + 10 + 50.0);
  auto const rounds = ends({{"0.0", 1}, {"0.1", 5}, {"1.0", 1}, {"1.1", 10}, {"2.0", 1}, {"2.1", 2}});
  EXPECT_DOUBLE_EQ(program_rate({.rounds = 2}, flows, rounds), 600 / 10.0);
}

// What the model gives for all pairs of these GPUs, in GB/s.
double all_to_all(std::vector<std::string> const& gpus, MeasuredProgram const& program) {
  static Model const model(bundled().machine("rtx6000pro-x16-turin"));
  MeasuredSeries series;
  series.mechanism = Mechanism::PcieP2p;
  MeasuredPoint point;
  point.bytes = Bytes(256 << 20);
  for (auto const& from : gpus)
    for (auto const& to : gpus)
      if (from != to) point.flows.push_back({from, to});
  std::mt19937 random;
  auto const flows = requests_of(model.machine(), series, point);
  auto const plan = Planner(model).plan(issued(program, flows, random));
  return program_rate(program, flows, sim::SimGridExecutor(model).run(plan)) / 1e9;
}

// Published by rtx6kpro e2c2b957, hardware/asrockrack-turin-cpayne-16gpu.md: 163.6 and 67.4 GB/s for the four GPUs of
// one switch, 190.0 and 74.3 for the eight of two, where the links alone would carry 226 and 197.
TEST(ProgramReplay, PublishedAllToAllTotalsAreTheWaitsOfTheirProgram) {
  MeasuredProgram const copies{.waits = CopyWaits::Destination, .timed = TimedBy::LastSource, .rounds = 4};
  MeasuredProgram const in_default_streams{
      .stream = CopyStream::LegacyDefault, .timed = TimedBy::LastSource, .rounds = 4};
  std::vector<std::string> const four{"gpu0", "gpu1", "gpu2", "gpu3"};
  std::vector<std::string> const eight{"gpu0", "gpu1", "gpu2", "gpu3", "gpu4", "gpu5", "gpu6", "gpu7"};
  EXPECT_NEAR(all_to_all(four, copies) / 163.6, 1, 0.06);
  EXPECT_NEAR(all_to_all(four, in_default_streams) / 67.4, 1, 0.06);
  EXPECT_NEAR(all_to_all(eight, copies) / 190.0, 1, 0.08);
  EXPECT_NEAR(all_to_all(eight, in_default_streams) / 74.3, 1, 0.06);
}

// One engine a GPU, whole copies, ports shared equally: rotated copies lose nothing, copies that all begin with the
// same target lose a factor of N/2.
TEST(ProgramReplay, TheOrderOfIssueDecidesHowMuchOfThePortsIsUsed) {
  std::vector<std::string> const four{"gpu0", "gpu1", "gpu2", "gpu3"};
  auto const rotated = all_to_all(four, {.issue = IssueOrder::Rotated});
  auto const listed = all_to_all(four, {});
  EXPECT_NEAR(rotated / listed, 2.0, 0.2);
}

}  // namespace
}  // namespace lanewise::test
