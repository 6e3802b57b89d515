#include "lanewise/model/interval.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/machines.hpp"

namespace lanewise {
namespace {

using namespace literals;

// `gpu`: more keys of the GPUs' part.
Model two_gpus(std::string const& gpu = {}) {
  std::string yaml = R"(
lanewise: machine/1
machine: m
parts:
  cpu: {kind: cpu, peer_write_forwarding: any}
  gpu: {kind: gpu, link: gen4 x16}
sockets:
  - {socket: cpu0, part: cpu, pcie: [{root_port: rp0, gpu: gpu0, part: gpu}, {root_port: rp1, gpu: gpu1, part: gpu}]}
)";
  yaml.insert(yaml.find("link: gen4 x16"), gpu);
  return Model(test::machine_from(yaml));
}

double figure(Model const& model, Bytes bytes) {
  auto const& machine = model.machine();
  auto const demand =
      model.lower(machine.place("gpu0"), machine.place("gpu1"), bytes, Op::Copy, {.mechanism = Mechanism::PcieP2p});
  return model.cost(demand, bytes)->time.value();
}

double log_width(Parameter parameter, bool high) {
  auto const& range = parameter_ranges()[static_cast<std::size_t>(parameter)];
  return std::log(high ? range.high : range.low);
}

// A large copy hangs on its link alone: twice as wide a link would halve it.
TEST(Intervals, OfALargeCopyAreThoseOfItsLink) {
  auto const model = two_gpus();
  auto const range = Intervals(model).of([](Model const& m) { return figure(m, 1_GB * 100); });
  auto const middle = figure(model, 1_GB * 100);
  auto const spread = std::log1p(kRunToRunSpread);
  EXPECT_NEAR(std::log(range.high / middle), std::hypot(log_width(Parameter::LinkUtilisation, false), spread), 1e-4);
  EXPECT_NEAR(std::log(middle / range.low), std::hypot(log_width(Parameter::LinkUtilisation, true), spread), 1e-4);
}

// A small one hangs on starts and hops, and not on the link.
TEST(Intervals, OfASmallCopyAreThoseOfItsStart) {
  auto const model = two_gpus();
  Parameter const link[]{Parameter::LinkUtilisation};
  auto const of_link = Intervals(model).of([](Model const& m) { return figure(m, 4_B); }, link);
  EXPECT_NEAR(of_link.high / figure(model, 4_B), 1 + kRunToRunSpread, 1e-3);
  auto const all = Intervals(model).of([](Model const& m) { return figure(m, 4_B); });
  EXPECT_GT(all.high / figure(model, 4_B), 1.5);
  EXPECT_TRUE(all.holds(figure(model, 4_B)));
}

// What a generic part stands for starts its engines sooner or later than the range of one product says.
TEST(Intervals, AGenericGpuHasTheEngineStartsOfEveryGeneration) {
  auto const model = two_gpus("spread: 4, ");
  Parameter const generic[]{Parameter::GenericLatencies};
  auto const range = Intervals(model).of([](Model const& m) { return figure(m, 4_B); }, generic);
  auto const middle = figure(model, 4_B);
  auto const way = middle - 1.3e-6;
  auto const spread = std::log1p(kRunToRunSpread);
  EXPECT_NEAR(std::log(range.high / middle), std::hypot(std::log((way + 9.3e-6) / middle), spread), 1e-6);
  EXPECT_NEAR(std::log(middle / range.low), std::hypot(std::log(middle / (way + 60e-9)), spread), 1e-6);
  auto const known = two_gpus();
  auto const narrow = Intervals(known).of([](Model const& m) { return figure(m, 4_B); }, generic);
  EXPECT_NEAR(narrow.high / narrow.low, (1 + kRunToRunSpread) * (1 + kRunToRunSpread), 1e-6);
}

TEST(Intervals, OfSeveralFiguresAreOfEachItsOwn) {
  auto const model = two_gpus();
  Parameter const link[]{Parameter::LinkUtilisation};
  auto const both = Intervals(model).of_each(
      [](Model const& m) {
        return std::vector<double>{figure(m, 4_B), figure(m, 1_GB)};
      },
      link);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_LT(both[0].high / both[0].low, both[1].high / both[1].low);
}

// Of a figure that is a power of a parameter the nearer end is known from the further one.
TEST(Intervals, OfTheFurtherEndsAreThoseOfBothWhereAFigureIsAPower) {
  auto const model = two_gpus();
  Parameter const link[]{Parameter::LinkUtilisation};
  Intervals const intervals(model);
  auto const rate = [](Model const& m) { return std::vector<double>{1e9 / figure(m, 1_GB)}; };
  std::size_t runs = 0;
  auto const counted = [&](Model const& m) {
    ++runs;
    return rate(m);
  };
  auto const both = intervals.of_each(rate(model), counted, link).front();
  EXPECT_EQ(runs, 2U);
  auto const one = intervals.of_each(rate(model), counted, link, Intervals::Ends::Further).front();
  EXPECT_EQ(runs, 3U);
  EXPECT_NEAR(one.low / both.low, 1, 1e-3);
  EXPECT_NEAR(one.high / both.high, 1, 1e-3);
}

TEST(Assumptions, ChangeCapacitiesAndNotTheMachine) {
  auto const model = two_gpus();
  auto const halved = model.with_assumptions(Assumptions(Parameter::LinkUtilisation, 0.5));
  EXPECT_EQ(&halved.machine(), &model.machine());
  for (std::size_t i = 0; i < model.resources().count(); ++i)
    if (model.resources().at(ResourceId(i)).kind == ResourceKind::PcieLink) {
      EXPECT_DOUBLE_EQ(halved.capacity(ResourceId(i))->value(), model.capacity(ResourceId(i))->value() / 2);
    }
  EXPECT_TRUE(model.assumed().is_nominal());
}

}  // namespace
}  // namespace lanewise
