#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/view/workload_text.hpp"
#include "core/workload/chakra/trace_reader.hpp"
#include "core/workload/chakra/wire_format.hpp"
#include "core/workload/trace_traffic.hpp"
#include "core/workload/trace_workload_reader.hpp"
#include "lanewise/scenario/scenario.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// ------------------------------------------------------------------ the wire format, written as its specification says

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string number_field(int number, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(number) << 3) + varint(value);
}
std::string bytes_field(int number, std::string const& bytes) {
  return varint(static_cast<std::uint64_t>(number) << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string in_stream(std::string const& message) { return varint(message.size()) + message; }

std::string int64_attribute(std::string const& name, std::int64_t value) {
  return bytes_field(10, bytes_field(1, name) + number_field(9, static_cast<std::uint64_t>(value)));
}
std::string int32_attribute(std::string const& name, int value) {
  return bytes_field(10, bytes_field(1, name) + number_field(7, static_cast<std::uint64_t>(std::int64_t{value})));
}
std::string text_attribute(std::string const& name, std::string const& value) {
  return bytes_field(10, bytes_field(1, name) + bytes_field(29, value));
}

constexpr int kLoad = 2, kCompute = 4, kSend = 5, kReceive = 6, kCollective = 7;
constexpr int kAllReduce = 0, kAllGather = 2, kGather = 3, kBarrier = 9;

// A node that waits for others: `rest` has its other fields.
std::string node(int id, int type, std::vector<int> const& after, std::string const& rest = {}) {
  auto message = number_field(1, static_cast<std::uint64_t>(id)) + bytes_field(2, "n" + std::to_string(id)) +
                 number_field(3, static_cast<std::uint64_t>(type));
  for (auto const other : after) message += number_field(5, static_cast<std::uint64_t>(other));
  return in_stream(message + rest);
}
std::string compute(int id, std::uint64_t microseconds, std::vector<int> const& after) {
  return node(id, kCompute, after, number_field(7, microseconds));
}
std::string collective(int id, int type, std::int64_t bytes, std::string const& group, std::vector<int> const& after) {
  return node(id, kCollective, after,
              int64_attribute("comm_type", type) + int64_attribute("comm_size", bytes) +
                  (group.empty() ? std::string() : text_attribute("pg_name", group)));
}
std::string const kMetadata = in_stream(bytes_field(1, "0.0.4"));

ExecutionTrace trace_from(std::string const& bytes) {
  std::istringstream stream(bytes);
  return read_execution_trace(stream, "t.et");
}

TracedStep step_from(std::string const& nodes, int ranks) {
  TracedStep step;
  step.file = "t.et";
  step.ranks = ranks;
  step.one_for_all = true;
  step.trace = trace_from(kMetadata + nodes);
  return step;
}

std::string trace_error(std::string const& bytes) {
  return test::input_error([&] { trace_from(bytes); });
}

TEST(WireFormat, ReadsEachType) {
  auto const fixed64 = std::string("\x09\x01\x02\x00\x00\x00\x00\x00\x00", 9);  // field 1: 0x0201
  auto const fixed32 = std::string("\x15\x05\x00\x00\x00", 5);                  // field 2: 5
  auto const message = fixed64 + fixed32 + number_field(3, 300) + bytes_field(4, "abc");
  WireReader reader(message);
  EXPECT_EQ(reader.next()->value, 0x0201U);
  EXPECT_EQ(reader.next()->value, 5U);
  EXPECT_EQ(reader.next()->value, 300U);
  EXPECT_EQ(reader.next()->bytes, "abc");
  EXPECT_FALSE(reader.next());
}

TEST(WireFormat, RefusesWhatIsCutOffOrUnknown) {
  auto const error = [](std::string const& message) {
    return test::input_error([&] {
      WireReader reader(message);
      while (reader.next()) continue;
    });
  };
  EXPECT_THAT(error("\x08"), HasSubstr("cut off within a number"));
  EXPECT_THAT(error(varint(1 << 3 | 2) + varint(9) + "abc"), HasSubstr("a field of 9 bytes, and 3 are left"));
  EXPECT_THAT(error("\x0b"), HasSubstr("field 1 has the type 3"));
  EXPECT_THAT(error(std::string(1, '\0')), HasSubstr("there is no field 0"));
  EXPECT_THAT(error("\x08" + std::string(11, '\xff')), HasSubstr("more than 64 bits"));
}

TEST(ExecutionTrace, ReadsWhatNodesWaitFor) {
  auto const packed = bytes_field(5, varint(3) + varint(2));
  auto const trace = trace_from(kMetadata + node(1, kCompute, {}, number_field(7, 10) + packed) + compute(2, 20, {3}) +
                                node(3, kCompute, {}, int64_attribute("runtime", 30)));
  ASSERT_EQ(trace.nodes.size(), 3U);
  EXPECT_THAT(trace.nodes[0].after, ElementsAre(1, 2));
  EXPECT_DOUBLE_EQ(trace.nodes[2].duration.value(), 30e-6);
  EXPECT_EQ(trace.nodes[1].name, "n2");
}

TEST(ExecutionTrace, NamesTheFileAndTheNodeThatIsWrong) {
  auto const one = compute(7, 10, {});
  EXPECT_THAT(trace_error(kMetadata + compute(7, 10, {99})),
              HasSubstr("t.et: error: node 7 ('n7'): it waits for node 99, which is not there"));
  EXPECT_THAT(trace_error(kMetadata + one + one), HasSubstr("node 7 ('n7'): its id is there twice"));
  EXPECT_THAT(trace_error(kMetadata + compute(1, 1, {2}) + compute(2, 1, {1}) + compute(3, 1, {2})),
              HasSubstr("it waits for itself"));
  EXPECT_THAT(trace_error(kMetadata + one + one.substr(0, one.size() - 1)),
              HasSubstr("message 3 (after node 7): it is cut off after"));
  EXPECT_THAT(trace_error(kMetadata + one + varint(std::uint64_t{1} << 40)), HasSubstr("more than any node has"));
  EXPECT_THAT(trace_error(kMetadata), HasSubstr("no nodes"));
  EXPECT_THAT(trace_error(kMetadata + node(4, kCompute, {}, int64_attribute("num_ops", 286))),
              HasSubstr("node 4 ('n4'): 286 operations, and no time that they take; give 'duration_micros'"));
  EXPECT_THAT(trace_error(kMetadata + node(4, kCollective, {}, int64_attribute("comm_type", 12))),
              HasSubstr("'comm_type' is 12; it is a number from 0 to 9"));
  EXPECT_THAT(trace_error(kMetadata + node(4, kSend, {}, int32_attribute("comm_dst", 1))),
              HasSubstr("the attribute 'comm_size'"));
  EXPECT_THAT(trace_error(kMetadata + node(4, 8, {})), HasSubstr("the type 8 is not known; there is 0 to 7"));
}

TEST(ExecutionTrace, CallsOfCollectivesAreWorkOfTheCpu) {
  auto const on_cpu = bytes_field(10, bytes_field(1, "is_cpu_op") + number_field(27, 1));
  auto const trace = trace_from(kMetadata + node(1, kCollective, {}, number_field(7, 85) + on_cpu));
  EXPECT_EQ(trace.nodes.front().kind, TraceNodeKind::Cpu);
  EXPECT_DOUBLE_EQ(trace.nodes.front().duration.value(), 85e-6);
}

// Cut anywhere, it is an error or a shorter trace.
TEST(ExecutionTrace, IsRobustAgainstEveryCut) {
  auto const whole = kMetadata + compute(1, 10, {}) + collective(2, kAllReduce, 1000, "tp", {1});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::istringstream stream(whole.substr(0, size));
    try {
      read_execution_trace(stream, "t.et");
    } catch (InputError const&) {
      continue;  // cut between two messages it is a shorter trace
    }
  }
  EXPECT_EQ(trace_from(whole).nodes.size(), 2U);
}

TEST(TraceTraffic, IsDoneByAllGroupsOfTheSameShape) {
  auto step = step_from(collective(1, kAllReduce, 1000, "a", {}) + collective(2, kAllGather, 1000, "b", {1}) +
                            collective(3, kAllReduce, 1000, "a", {2}) + collective(4, kBarrier, 0, "", {3}),
                        8);
  // Pairs of neighbours, and ranks that are four apart.
  step.groups = {{"a", {0, 1}}, {"a2", {2, 3}}, {"a3", {4, 5}}, {"a4", {6, 7}},
                 {"b", {0, 4}}, {"b2", {1, 5}}, {"b3", {2, 6}}, {"b4", {3, 7}}};
  auto const traffic = traffic_of_trace(step);
  ASSERT_EQ(traffic.patterns.size(), 3U);
  EXPECT_THAT(traffic.of_node, ElementsAre(0U, 1U, 0U, 2U));
  EXPECT_EQ(traffic.patterns[0].id, "all_reduce-1");
  EXPECT_DOUBLE_EQ(traffic.patterns[0].count, 2);
  EXPECT_THAT(traffic.patterns[0].groups,
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5), ElementsAre(6, 7)));
  EXPECT_THAT(traffic.patterns[1].groups,
              ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5), ElementsAre(2, 6), ElementsAre(3, 7)));
  EXPECT_EQ(traffic.patterns[1].bytes, Bytes(2000));  // what both ranks give together
  EXPECT_EQ(traffic.patterns[2].bytes, Bytes(4));
  EXPECT_EQ(traffic.patterns[2].groups.front().size(), 8U);
}

TEST(TraceTraffic, SendsGoFromEveryRankThatHasAReceiver) {
  auto const message = int64_attribute("comm_size", 500);
  auto step = step_from(node(1, kSend, {}, message + int32_attribute("comm_dst", 2)) +
                            node(2, kReceive, {}, message + int32_attribute("comm_src", 2)),
                        4);
  auto traffic = traffic_of_trace(step);
  ASSERT_EQ(traffic.patterns.size(), 2U);
  EXPECT_THAT(traffic.patterns[0].groups, ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(traffic.patterns[1].groups, ElementsAre(ElementsAre(2, 0), ElementsAre(3, 1)));
  // Where every rank has its trace, they say who sends.
  step.sends = {{500, 0, 2}, {500, 2, 0}, {500, 1, 3}, {900, 3, 1}};
  traffic = traffic_of_trace(step);
  ASSERT_EQ(traffic.patterns.size(), 2U);
  EXPECT_THAT(traffic.patterns[0].groups, ElementsAre(ElementsAre(0, 2), ElementsAre(2, 0), ElementsAre(1, 3)));
}

TEST(TraceTraffic, NamesTheNodeWhoseRanksAreUnknown) {
  auto const error = [](std::string const& nodes, std::map<std::string, std::vector<int>> const& groups) {
    auto step = step_from(nodes, 4);
    step.groups = groups;
    return test::input_error([&] { traffic_of_trace(step); });
  };
  EXPECT_THAT(error(collective(3, kAllReduce, 9, "x", {}), {}),
              HasSubstr("node 3 ('n3'): nobody says which ranks the group 'x' has; give 'comm_groups'"));
  EXPECT_THAT(error(collective(3, kAllReduce, 9, "x", {}), {{"x", {1, 2}}}), HasSubstr("rank 0 is not in its group"));
  EXPECT_THAT(error(collective(3, kGather, 9, "", {}), {}), HasSubstr("'gather' is not modelled"));
  auto const size = int64_attribute("comm_size", 9);
  EXPECT_THAT(error(node(3, kSend, {}, size), {}), HasSubstr("the attribute 'comm_dst'"));
  EXPECT_THAT(error(node(3, kSend, {}, size + int32_attribute("comm_dst", 4)), {}), HasSubstr("there is no rank 4"));
}

std::vector<PatternTime> times_of(TracedStep const& step, std::vector<double> const& microseconds) {
  std::vector<PatternTime> times;
  for (auto const& pattern : traffic_of_trace(step).patterns)
    times.push_back({.pattern = pattern, .reach = {}, .each = Seconds(microseconds.at(times.size()) * 1e-6)});
  return times;
}

// 100 us, then 200 us beside a sum of 300 us, then 50 us that need both.
TEST(TraceStep, OverlapsCommunicationWithComputing) {
  auto const step = step_from(compute(1, 100, {}) + collective(2, kAllReduce, 1000, "", {1}) + compute(3, 200, {1}) +
                                  compute(4, 50, {2, 3}) + node(5, kLoad, {4}),
                              8);
  auto const composed = compose_traced_step(step, times_of(step, {300}));
  EXPECT_NEAR(composed.step.value(), 450e-6, 1e-12);
  EXPECT_NEAR(composed.computing.value(), 350e-6, 1e-12);
  EXPECT_NEAR(composed.exposed.value(), 100e-6, 1e-12);
  EXPECT_NEAR(composed.patterns.front().hidden.value(), 200e-6, 1e-12);
  EXPECT_DOUBLE_EQ(composed.idle.value(), 0);
  EXPECT_EQ(composed.computing_by, "trace t.et");
  EXPECT_THAT(composed.notes,
              ElementsAre("1 memory node of the trace takes no time", "the trace of one rank stands for all"));
  // Where the sum is shorter than the computing beside it, nothing is exposed.
  EXPECT_NEAR(compose_traced_step(step, times_of(step, {150})).exposed.value(), 0, 1e-12);
}

// Messages of one group wait for one another, those of two groups do not.
TEST(TraceStep, EachGroupHasAStream) {
  auto step = step_from(collective(1, kAllReduce, 1000, "a", {}) + collective(2, kAllReduce, 1000, "a", {}) +
                            collective(3, kAllReduce, 1000, "b", {}) + compute(4, 10, {1, 2, 3}),
                        4);
  step.groups = {{"a", {0, 1}}, {"b", {0, 2}}};
  auto const composed = compose_traced_step(step, times_of(step, {100, 60}));
  EXPECT_NEAR(composed.step.value(), 210e-6, 1e-12);
  // The first 60 us are shared by both.
  EXPECT_NEAR(composed.patterns[0].exposed.value(), 170e-6, 1e-12);
  EXPECT_NEAR(composed.patterns[1].exposed.value(), 30e-6, 1e-12);
}

TEST(TraceStep, TheGpuWaitsForTheCpu) {
  auto const on_cpu = bytes_field(10, bytes_field(1, "is_cpu_op") + number_field(27, 1));
  auto const step = step_from(node(1, kCompute, {}, number_field(7, 40) + on_cpu) + compute(2, 60, {1}), 1);
  auto const composed = compose_traced_step(step, {});
  EXPECT_NEAR(composed.step.value(), 100e-6, 1e-12);
  EXPECT_NEAR(composed.computing.value(), 60e-6, 1e-12);
  EXPECT_NEAR(composed.idle.value(), 40e-6, 1e-12);
}

Workload traced_workload(test::TemporaryFolder const& folder, std::string const& lines) {
  return *read_scenario(
              SourceText::from_memory((folder.path() / "s.yaml").string(),
                                      "lanewise: scenario/1\nscenario: s\nmachines: [hgx-h100]\nworkload:\n" + lines))
              .workload;
}

TEST(TracedWorkload, RunsOnAMachine) {
  test::TemporaryFolder const folder;
  auto const message = int64_attribute("comm_size", 1'000'000);
  for (int rank = 0; rank < 4; ++rank)
    static_cast<void>(
        folder.with("llama." + std::to_string(rank) + ".et",
                    kMetadata + compute(1, 1000, {}) + collective(2, kAllReduce, 100'000'000, "", {1}) +
                        (rank % 2 == 0 ? node(3, kSend, {2}, message + int32_attribute("comm_dst", rank + 1))
                                       : node(3, kReceive, {2}, message + int32_attribute("comm_src", rank - 1)))));
  auto const workload = traced_workload(folder, "  trace: llama.%d.et\n  ranks: [gpu4..gpu7]\n");
  ASSERT_TRUE(workload.trace);
  EXPECT_EQ(workload.trace->ranks, 4);
  EXPECT_THAT(workload.trace->sends, ElementsAre(TracedSend{1'000'000, 0, 1}, TracedSend{1'000'000, 2, 3}));
  auto catalogue = test::bundled();
  Model const model(catalogue.machine("hgx-h100"));
  auto const step = step_time(workload, model, model);
  ASSERT_EQ(step.patterns.size(), 2U);
  EXPECT_EQ(step.patterns[0].time.group_size, 4U);
  EXPECT_EQ(step.patterns[1].time.groups, 2U);
  // One after another.
  EXPECT_NEAR(step.step.value(), 1e-3 + (step.patterns[0].time.each + step.patterns[1].time.each).value(), 1e-9);
  auto const text = traffic_text(workload, traffic_of(workload)) + step_text(workload, step, "hgx-h100", "best");
  EXPECT_THAT(text, HasSubstr("trace llama.%d.et; 4 ranks\n3 nodes of rank 0"));
  EXPECT_THAT(text, HasSubstr("trace llama.%d.et\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("tokens/s")));
  EXPECT_EQ(step_json(workload, step)["trace"], "llama.%d.et");
}

TEST(TracedWorkload, PointsAtWhatIsMissing) {
  test::TemporaryFolder const folder;
  static_cast<void>(folder.with("one.et", kMetadata + collective(2, kAllReduce, 100, "1", {})));
  static_cast<void>(folder.with("groups.json", "{\"1\": [0, 1], \"2\": [2, 3]}"));
  auto const workload = traced_workload(folder, "  trace: one.et\n  comm_groups: groups.json\n");
  EXPECT_EQ(workload.trace->ranks, 4);
  EXPECT_TRUE(workload.trace->one_for_all);
  auto const error = [&](std::string const& lines) {
    return test::input_error([&] { traced_workload(folder, lines); });
  };
  EXPECT_THAT(error("  trace: one.et\n"), HasSubstr("'comm_groups' says which ranks there are"));
  EXPECT_THAT(error("  trace: no.et\n"), HasSubstr("there is no file 'no.et'"));
  EXPECT_THAT(error("  trace: no.%d.et\n"), HasSubstr("there is no file 'no.0.et'"));
  EXPECT_THAT(error("  trace: no.%s.et\n"), HasSubstr("has one %d, where the rank's number stands, or none"));
  EXPECT_THAT(error("  trace: one.et\n  mode: train\n"), HasSubstr("'mode' does not go with 'trace'"));
  EXPECT_THAT(error("  mode: train\n"), HasSubstr("the key 'model' is missing; a workload has 'model' and 'mode', or"));
  EXPECT_THAT(error("  model: llama-3-70b\n  mode: train\n  comm_groups: groups.json\n"),
              HasSubstr("'comm_groups' is about the groups of a 'trace'"));
}

TEST(TracedWorkload, ReadsGroupsOfRanks) {
  auto const read_groups = [](std::string const& text) {
    return read_rank_groups(SourceText::from_memory("g.json", text));
  };
  EXPECT_THAT(read_groups("{\"1\": [0, 2]}"), ElementsAre(testing::Pair("1", ElementsAre(0, 2))));
  EXPECT_THAT(test::input_error([&] { read_groups("{\"1\": [0, x]}"); }),
              HasSubstr("g.json:1:11: error: group '1': a rank is"));
  EXPECT_THAT(test::input_error([&] { read_groups("{\"1\": [0, 0]}"); }), HasSubstr("has rank 0 twice"));
  EXPECT_THAT(test::input_error([&] { read_groups("{\"1\": 4}"); }), HasSubstr("is a list of ranks"));
  EXPECT_THAT(test::input_error([&] { read_groups("[1]"); }), HasSubstr("are a mapping"));
}

}  // namespace
}  // namespace lanewise
