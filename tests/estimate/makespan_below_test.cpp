// The estimate that ends at a limit is the estimate.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "lanewise/estimate/estimate.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/sweep.hpp"

namespace lanewise {
namespace {

using namespace literals;

std::vector<Step> random_steps(Model const& model, std::mt19937& random) {
  auto const gpus = model.machine().all(PciKind::Gpu);
  std::vector<Request> requests;
  for (std::size_t i = 0; i < 12; ++i) {
    auto const from = random() % gpus.size();
    auto const to = (from + 1 + random() % (gpus.size() - 1)) % gpus.size();
    requests.push_back({.id = "t" + std::to_string(i),
                        .from = gpus[from],
                        .to = gpus[to],
                        .bytes = Bytes(static_cast<std::int64_t>(random() % 100'000'000))});
    if (i > 0 && random() % 2 == 0) requests.back().after = {random() % i};
  }
  return Planner(model).plan(requests).steps;
}

TEST(MakespanBelow, IsTheEstimateBelowTheLimitAndNothingAbove) {
  std::mt19937 random(24);
  auto catalogue = test::bundled();
  for (auto const* name : {"dgx-1-v100", "a100x8-pcie-4sw", "hgx-h100"}) {
    Model const model(catalogue.machine(name));
    for (int trial = 0; trial < test::rounds(20, 500); ++trial) {
      auto const steps = random_steps(model, random);
      auto const whole = estimate(model, steps).makespan;
      EXPECT_EQ(makespan_below(Seconds(std::numeric_limits<double>::infinity()), model, steps), whole);
      EXPECT_EQ(makespan_below(whole + 1.0_ns, model, steps), whole);
      for (auto const part : {1.0, 0.999, 0.5, 0.0})
        EXPECT_EQ(makespan_below(whole * part, model, steps), std::nullopt) << part << " on " << name;
    }
  }
}

TEST(MakespanBelow, OfNothingIsNothing) {
  auto catalogue = test::bundled();
  Model const model(catalogue.machine("hgx-h100"));
  EXPECT_EQ(makespan_below(1.0_s, model, {}), Seconds(0));
}

}  // namespace
}  // namespace lanewise
