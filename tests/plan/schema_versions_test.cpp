// Files that earlier versions wrote are still read.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/io/json.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/plan/plan_json.hpp"
#include "lanewise/plan/trace.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Json = nlohmann::ordered_json;

SourceText fixture(std::string const& name) {
  return SourceText::load(std::filesystem::path(LANEWISE_SOURCE_DIR) / "tests/plan/fixtures" / name);
}

// The machine that the fixtures were made for. Its file may gain figures, which are not what is tested here.
Machine machine() { return test::bundled().machine("dgx-h100"); }
Json as_of_now(Json json) {
  json["fingerprint"] = fingerprint(machine());
  return json;
}

Plan plan_of_version_1() {
  return plan_from_json(as_of_now(parse_json(fixture("plan-1.json"), kPlanSchemas)), machine());
}

TEST(SchemaVersions, TurnsOfAPlan1AreOrderOnly) {
  auto const plan = plan_of_version_1();
  ASSERT_EQ(plan.steps.size(), 3);
  EXPECT_THAT(plan.steps[0].order_only, IsEmpty());
  EXPECT_THAT(plan.steps[1].order_only, ElementsAre(StepId(0)));
  EXPECT_THAT(plan.steps[2].order_only, ElementsAre(StepId(0)));
  EXPECT_THAT(plan.steps[2].after, IsEmpty());
}

TEST(SchemaVersions, APlan1IsWrittenAsPlan3) {
  auto const written = to_json(plan_of_version_1(), machine());
  EXPECT_EQ(written.at("lanewise"), "plan/3");
  EXPECT_EQ(written.at("steps").at(1).at("order_only"), Json::array({0}));
  EXPECT_FALSE(written.at("steps").at(1).contains("turns"));
  EXPECT_EQ(plan_from_json(written, machine()), plan_of_version_1());
}

// Until plan/2 all that crossed a network went by verbs, and no way said so.
TEST(SchemaVersions, WaysOfAPlan2GoByVerbs) {
  auto const cluster = test::bundled().machine("soft-roce-2");
  Request request;
  request.id = "t";
  request.from = cluster.place("node0/numa0");
  request.to = cluster.place("node1/numa0");
  request.bytes = Bytes(1 << 20);
  auto const plan = Planner(Model(cluster)).plan({request});
  auto json = to_json(plan, cluster);
  json["lanewise"] = "plan/2";
  for (auto& step : json["steps"]) EXPECT_EQ(step["way"].erase("carrier"), 1);
  for (auto& decision : json["decisions"])
    for (auto& candidate : decision["candidates"]) EXPECT_EQ(candidate.erase("carrier"), 1);
  auto const read = parse_json(SourceText::from_memory("plan-2.json", json.dump()), kPlanSchemas);
  EXPECT_EQ(plan_from_json(read, cluster), plan);
}

TEST(SchemaVersions, ThePlansCarrierIsKept) {
  auto const cluster = test::bundled().machine("ethernet-2");
  Request request;
  request.from = cluster.place("node0/numa0");
  request.to = cluster.place("node1/numa0");
  request.bytes = Bytes(1 << 20);
  auto const plan = Planner(Model(cluster)).plan({request});
  ASSERT_EQ(plan.steps[0].way.carrier, Carrier::Mpi);
  EXPECT_EQ(plan_from_json(to_json(plan, cluster), cluster), plan);
}

TEST(SchemaVersions, OtherPlansAreRefusedByName) {
  auto const other = SourceText::from_memory("f", R"({"lanewise": "plan/4"})");
  try {
    parse_json(other, kPlanSchemas);
    FAIL();
  } catch (InputError const& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("this is 'plan/4', but 'plan/3' is needed here"));
  }
}

TEST(SchemaVersions, ATrace1IsReadAndWrittenAgain) {
  auto const json = parse_json(fixture("trace-1.json"), kTraceSchemas);
  auto const trace = trace_from_json(json);
  ASSERT_EQ(trace.steps.size(), 3);
  EXPECT_EQ(trace.mode, "sim");
  EXPECT_EQ(trace.steps[1].transfer, "b");
  EXPECT_EQ(trace.steps[1].bytes, Bytes(std::int64_t{48} << 20));
  auto const written = to_json(trace);
  EXPECT_EQ(written.at("lanewise"), "trace/2");
  for (auto const& [key, value] : written.items()) {
    if (key != "lanewise") {
      EXPECT_EQ(json.at(key), value) << key;
    }
  }
}

TEST(SchemaVersions, ATrace2HasTheNoiseOfWhatWasMeasured) {
  auto trace = trace_from_json(parse_json(fixture("trace-1.json"), kTraceSchemas));
  trace.mode = "hw";
  trace.spread = 0.02;
  trace.noise = TimeRange{from_microseconds(990), from_microseconds(1010)};
  trace.steps[1].spread = 0.06;
  trace.steps[1].noise = TimeRange{from_microseconds(490), from_microseconds(520)};
  auto const written = to_json(trace);
  EXPECT_EQ(written.at("makespan_noise_us"), Json::array({990.0, 1010.0}));
  EXPECT_EQ(trace_from_json(written), trace);
}

// Found by fuzzing: the end of a region beyond 64 bits.
TEST(PlanFiles, ASizeIsOneThatSomethingCanHave) {
  auto json = as_of_now(parse_json(fixture("plan-1.json"), kPlanSchemas));
  for (auto const& size : {Json(std::int64_t{9'223'372'036'854'775'807}), Json(-1), Json(1e300)}) {
    json["steps"][0]["offset"] = size;
    EXPECT_THROW(plan_from_json(json, machine()), InputError) << size;
  }
  json["steps"][0]["offset"] = std::int64_t{1} << 50;
  EXPECT_EQ(plan_from_json(json, machine()).steps[0].offset, Bytes(std::int64_t{1} << 50));
}

// Found by fuzzing: a number beyond the integers.
TEST(PlanFiles, StepsAndBytesAreWholeNumbers) {
  auto json = as_of_now(parse_json(fixture("plan-1.json"), kPlanSchemas));
  for (auto const& number : {Json(1e24), Json(0.5), Json(-1)}) {
    json["steps"][0]["after"] = Json::array({number});
    EXPECT_THROW(plan_from_json(json, machine()), InputError) << number;
    auto trace = parse_json(fixture("trace-1.json"), "trace/1");
    trace["steps"][0]["bytes"] = number;
    EXPECT_THROW(trace_from_json(trace), InputError) << number;
  }
}

// Found by fuzzing: the candidates of one transfer were evaluated between the places of another.
TEST(PlanFiles, ADecisionIsOnTheTransferOfItsStep) {
  auto json = as_of_now(parse_json(fixture("plan-1.json"), kPlanSchemas));
  ASSERT_FALSE(json.at("decisions").empty());
  json["decisions"][0]["transfer"] = "another";
  EXPECT_THROW(plan_from_json(json, machine()), PlanError);
}

TEST(PlanFiles, ADriveIsPushOrPull) {
  auto json = as_of_now(parse_json(fixture("plan-1.json"), kPlanSchemas));
  json["steps"][0]["way"]["drive"] = "pul";
  try {
    plan_from_json(json, machine());
    FAIL();
  } catch (InputError const& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("step 0 (transfer '"));
    EXPECT_THAT(error.what(), testing::HasSubstr("'): 'drive' is push or pull, not 'pul'; did you mean 'pull'?"));
  }
}

}  // namespace
}  // namespace lanewise
