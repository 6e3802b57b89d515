#include "core/calibration/makespan_together.hpp"

#include <gtest/gtest.h>

#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::test {
namespace {

Released released(Model const& model, std::string const& from, std::string const& to, Bytes bytes) {
  Request const request{.from = model.machine().place(from), .to = model.machine().place(to), .bytes = bytes};
  auto const choice = Planner(model).choose(request);
  auto const way = choice.evaluated[choice.chosen.value()].way;
  return {model.lower(request.from, request.to, bytes, request.op, way), bytes};
}

double alone(Model const& model, Released const& one) { return model.cost(one.demand, one.bytes)->time.value(); }

TEST(MakespanTogether, OfOneIsItsCost) {
  Model const model(bundled().machine("h200x8-vm"));
  auto const one = released(model, "gpu0", "gpu1", Bytes(64 << 20));
  EXPECT_NEAR(makespan_together(model, {one})->value(), alone(model, one), 1e-12);
}

// Both go to one GPU, whose port carries the bytes of both.
TEST(MakespanTogether, TwoShareAPort) {
  Model const model(bundled().machine("h200x8-vm"));
  auto const a = released(model, "gpu0", "gpu1", Bytes(64 << 20));
  auto const b = released(model, "gpu2", "gpu1", Bytes(64 << 20));
  auto const both = makespan_together(model, {a, b})->value();
  auto const latency = a.demand.latency().value();
  EXPECT_NEAR(both - latency, 2 * (alone(model, a) - latency), 1e-9);
}

// The short one ends first; then the long one has the port to itself.
TEST(MakespanTogether, TheRemainingOneHasTheWholePort) {
  Model const model(bundled().machine("h200x8-vm"));
  auto const long_one = released(model, "gpu0", "gpu1", Bytes(96 << 20));
  auto const short_one = released(model, "gpu2", "gpu1", Bytes(32 << 20));
  auto const latency = long_one.demand.latency().value();
  auto const rate = model.cost(long_one.demand, long_one.bytes)->rate.value();
  EXPECT_NEAR(makespan_together(model, {long_one, short_one})->value(), latency + (128 << 20) / rate, 1e-9);
}

TEST(MakespanTogether, TransfersThatQueueNeedTheSimulator) {
  Model const model(bundled().machine("h200x8-vm"));
  auto const one = released(model, "gpu0", "gpu1", Bytes(1 << 20));
  EXPECT_FALSE(makespan_together(model, {one, one}).has_value());  // one engine for copies to peers
}

}  // namespace
}  // namespace lanewise::test
