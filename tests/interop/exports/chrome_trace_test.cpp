#include "core/interop/exports/chrome_trace.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lanewise {
namespace {

Trace trace_of(std::string const& mode, std::vector<StepTrace> steps) {
  Trace trace;
  trace.mode = mode;
  trace.machine = "box";
  trace.steps = std::move(steps);
  return trace;
}

TEST(ChromeTrace, HasOneProcessPerTraceAndOneThreadPerTransfer) {
  std::vector<Trace> const traces{trace_of("sim", {{"a", Seconds(0), Seconds(2e-6), Bytes(1000), {}},
                                                   {"b", Seconds(1e-6), Seconds(3e-6), Bytes(5), {}}}),
                                  trace_of("hw", {{"a", Seconds(0), Seconds(4e-6), Bytes(1000), true}})};
  auto const json = chrome_trace(traces);
  std::vector<nlohmann::ordered_json> steps;
  std::vector<std::string> processes;
  for (auto const& event : json["traceEvents"]) {
    if (event["ph"] == "X") steps.push_back(event);
    if (event["name"] == "process_name") processes.push_back(event["args"]["name"]);
  }
  EXPECT_EQ(processes, (std::vector<std::string>{"predicted (sim) on box", "measured (hw) on box"}));
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0]["ts"], 0.0);
  EXPECT_EQ(steps[0]["dur"], 2.0);
  EXPECT_NE(steps[0]["tid"], steps[1]["tid"]);
  EXPECT_EQ(steps[2]["pid"], 1);
  EXPECT_EQ(steps[2]["args"]["verified"], true);
}

TEST(ChromeTrace, NeverStacksOverlappingStepsOfOneTransfer) {
  std::vector<Trace> const traces{trace_of("sim", {{"a", Seconds(0), Seconds(2e-6), Bytes(1), {}},
                                                   {"a", Seconds(1e-6), Seconds(3e-6), Bytes(1), {}},
                                                   {"a", Seconds(2e-6), Seconds(4e-6), Bytes(1), {}}})};
  std::vector<int> threads;
  auto const json = chrome_trace(traces);
  for (auto const& event : json["traceEvents"])
    if (event["ph"] == "X") threads.push_back(event["tid"]);
  EXPECT_EQ(threads, (std::vector<int>{0, 1, 0}));
}

}  // namespace
}  // namespace lanewise
