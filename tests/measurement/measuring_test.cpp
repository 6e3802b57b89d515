// What is measured, in which order, and that nothing is measured twice; with a meter that takes what the test says.
#include "core/measurement/measuring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/measurement/measured_transfer.hpp"
#include "core/measurement/measurement_writer.hpp"
#include "core/measurement/repeated_sample.hpp"
#include "core/measurement/session_noise.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/io/file.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using namespace literals;
using testing::Contains;
using testing::Not;

// 10 GB/s for everything, alone or not.
class TenGigabytesPerSecond : public Meter {
 public:
  Sample alone(Step const& step) override {
    if (refuses.contains(step.way.mechanism)) throw PlanError("not here");
    ++taken;
    return {step.bytes / 10.0_GBps, 0.01};
  }
  Sample together(std::vector<Step> const& steps) override {
    Bytes all{0};
    for (auto const& step : steps) all += step.bytes;
    ++taken;
    return {all / 10.0_GBps, 0.02};
  }
  [[nodiscard]] std::map<std::string, std::string> environment() const override { return {}; }

  int taken = 0;
  std::set<Mechanism> refuses;
};

Model model_of(std::string const& name) { return Model(test::bundled().machine(name)); }

std::vector<std::string> names(std::vector<MeasuredSeries> const& all) {
  std::vector<std::string> found;
  for (auto const& series : all) found.push_back(series.name);
  return found;
}
std::size_t points(std::vector<MeasuredSeries> const& all) {
  std::size_t count = 0;
  for (auto const& series : all) count += series.points.size();
  return count;
}

TEST(Worklist, CoversEveryPairAndDirection) {
  auto const series = series_to_measure(model_of("hgx-h200"), {.patterns = false});
  auto const copies =
      std::find_if(series.begin(), series.end(), [](auto const& s) { return s.name == "nvlink-copies"; });
  ASSERT_NE(copies, series.end());
  EXPECT_EQ(copies->points.size(), 8U * 7 * 8);  // ordered pairs, sizes from 64 KiB to 1 GiB
  EXPECT_THAT(names(series), Not(Contains("pattern-all-to-all")));
  for (auto const& one : series) EXPECT_NE(one.quantity, MeasuredQuantity::Makespan) << one.name;
}

TEST(Worklist, LeavesOutWhatTheRulesRefuse) {
  auto const found = names(series_to_measure(model_of("rtx6000pro-x8-bcm"), {}));
  EXPECT_THAT(found, Not(Contains("nvlink-copies")));
  EXPECT_THAT(found, Contains("pcie-copies"));
}

TEST(Worklist, AsksAllCoresOfANodeForItsMemoryWhereTheyAreKnown) {
  auto const known = series_to_measure(model_of("h200x4-vm"), {.patterns = false});
  auto const memory =
      std::find_if(known.begin(), known.end(), [](auto const& s) { return s.name == "memory-of-numa0-by-all-cores"; });
  ASSERT_NE(memory, known.end());
  EXPECT_EQ(memory->cores, 64);
  auto machine = test::bundled().machine("h200x4-vm");
  machine.numa_nodes.front().cores.clear();
  EXPECT_THAT(names(series_to_measure(Model(machine), {.patterns = false})),
              Not(Contains("memory-of-numa0-by-all-cores")));
}

TEST(Worklist, PatternsNeedNoMoreThanTheMachineHas) {
  auto const found = names(series_to_measure(model_of("h100-pcie-x2-workstation"), {.singles = false}));
  EXPECT_THAT(found, Contains("pattern-exchange-1"));
  EXPECT_THAT(found, Not(Contains("pattern-fan-in-gpu0")));
}

TEST(Worklist, UsesEveryNicOfANode) {
  auto const model = model_of("hgx-h100-2");
  auto const& machine = model.machine();
  Planner const planner(model);
  std::set<PciId> nics;
  for (auto const& series : series_to_measure(model, {.patterns = false}))
    for (auto const& point : series.points)
      for (auto const& request : requests_of(machine, series, point)) {
        auto const choice = planner.choose(request);
        if (auto const nic = choice.evaluated[*choice.chosen].way.nic_from) nics.insert(*nic);
      }
  std::size_t of_first = 0;
  for (auto const nic : machine.all(PciKind::Nic))
    if (index(machine.host_of(nic)) == 0 && !machine.fabric->attachments_of(nic).empty()) of_first += nics.count(nic);
  EXPECT_EQ(of_first, 8U);
  EXPECT_THAT(names(series_to_measure(model, {.patterns = false, .quick = true})), Not(Contains("by-other-nics")));
}

TEST(Worklist, HasTheDrivesThatSomethingStandsFor) {
  auto const model = model_of("dgx-h100");
  EXPECT_THAT(names(series_to_measure(model, {.patterns = false})), Not(Contains("drive-reads-host")));
  auto const found = series_to_measure(model, {.drives = {"nvme0", "nvme1"}});
  for (auto const* name : {"drive-reads-host", "drive-writes-host-small", "drive-reads-staged", "drive-writes-direct",
                           "pattern-all-drives-read", "pattern-drives-to-all-gpus"})
    EXPECT_THAT(names(found), Contains(name));
  auto const staged =
      std::find_if(found.begin(), found.end(), [](auto const& s) { return s.name == "drive-reads-staged"; });
  EXPECT_EQ(staged->points.size(), 2U * 8 * 4);  // drives, GPUs, sizes from 1 MiB to 1 GiB
}

TEST(Worklist, NothingIsLargerThanAsked) {
  for (auto const& series : series_to_measure(model_of("hgx-h200"), {.max_bytes = 16_MiB}))
    for (auto const& point : series.points)
      for (auto const& flow : point.flows) EXPECT_LE(point.bytes_of(flow), 16_MiB) << series.name;
}

TEST(Measuring, FiguresAreWhatTheMeterTook) {
  auto const model = model_of("h100-pcie-x2-workstation");
  TenGigabytesPerSecond meter;
  auto const result = measure(model, meter, series_to_measure(model, {.max_bytes = 64_MiB}), {}, {});
  ASSERT_FALSE(result.series.empty());
  for (auto const& series : result.series)
    for (auto const& point : series.points) {
      Bytes all{0};
      for (auto const& flow : point.flows) all += point.bytes_of(flow);
      auto const wanted = series.quantity == MeasuredQuantity::Bandwidth ? 10e9 : (all / 10.0_GBps).value();
      EXPECT_NEAR(point.value / wanted, 1, 1e-4) << series.name;  // five digits are kept
    }
}

TEST(Measuring, WhatIsThereIsNotMeasuredAgain) {
  auto const model = model_of("h100-pcie-x2-workstation");
  auto const series = series_to_measure(model, {.max_bytes = 1_MiB});
  TenGigabytesPerSecond first;
  auto half = series;
  half.resize(half.size() / 2);
  auto const begun = measure(model, first, half, {}, {});
  TenGigabytesPerSecond second;
  auto const whole = measure(model, second, series, begun, {});
  EXPECT_EQ(first.taken + second.taken, static_cast<int>(points(series) + 3 * series.size()));  // and three references
  EXPECT_EQ(points(whole.series), points(series));
}

// Copies to the host slow down by 20 % and recover, as with a busy neighbour; the rest stays as it is.
class BusyNeighbour : public TenGigabytesPerSecond {
 public:
  Sample alone(Step const& step) override {
    auto sample = TenGigabytesPerSecond::alone(step);
    if (std::holds_alternative<NumaId>(step.to)) sample.time = sample.time * (taken / 20 % 2 == 0 ? 1.0 : 1.25);
    sample.noise = std::holds_alternative<NumaId>(step.to) ? 0.04 : 0.001;
    return sample;
  }
};

TEST(Measuring, TheDriftOfTheMachineIsRecorded) {
  auto const model = model_of("h100-pcie-x2-workstation");
  BusyNeighbour meter;
  std::vector<std::string> noisy;
  MeasuringObserver watch;
  watch.noisy = [&](std::string const& what) { noisy.push_back(what); };
  auto const result = measure(model, meter, series_to_measure(model, {.max_bytes = 1_MiB}), {}, watch);
  ASSERT_EQ(result.noise.size(), 3U);
  for (auto const& noise : result.noise) {
    EXPECT_GE(noise.samples, 3);
    EXPECT_EQ(noise.flow.bytes, 1_MiB);
    if (noise.flow.to == "numa0")
      EXPECT_NEAR(noise.spread, 0.25, 0.06);
    else
      EXPECT_EQ(noise.spread, 0) << noise.flow.from << " > " << noise.flow.to;
  }
  EXPECT_THAT(noisy, Contains(testing::HasSubstr("+-4.0 % after")));
}

TEST(Measuring, DriftBelongsToTransfersOfItsKind) {
  auto const machine = test::bundled().machine("h100-pcie-x2-workstation");
  Measurement measurement;
  measurement.noise = {{{"gpu0", "numa0"}, 10, 0.2}, {{"gpu0", "gpu1"}, 10, 0.02}};
  auto const noise = [&](char const* from, char const* to) {
    return session_noise(measurement, machine, {{.from = machine.place(from), .to = machine.place(to)}});
  };
  EXPECT_DOUBLE_EQ(noise("gpu1", "numa0"), 0.1);
  EXPECT_DOUBLE_EQ(noise("gpu1", "gpu0"), 0.01);
  EXPECT_DOUBLE_EQ(noise("numa0", "gpu0"), 0);  // no reference of this direction
}

TEST(RepeatedSample, GoesOnUntilItsIntervalIsNarrow) {
  int calls = 0;
  auto const quiet = repeated_sample(1, 7, [&] { return 1.0 + 0.001 * (++calls % 3); });
  EXPECT_EQ(quiet.repetitions, 7);
  EXPECT_EQ(calls, 8);
  EXPECT_LT(quiet.noise.value(), kMaxNoise);
  // One run in four is half as fast: seven repetitions do not tell, some tens do.
  calls = 0;
  auto const shared = repeated_sample(1, 7, [&] { return ++calls % 4 == 2 ? 2.0 : 1.0; });
  EXPECT_GT(shared.repetitions, 7);
  EXPECT_LT(shared.repetitions, 7 * kMaxRepetitionFactor);
  EXPECT_EQ(shared.time, Seconds(1));
  // Two speeds, equally often: no number of repetitions tells.
  calls = 0;
  auto const hopeless = repeated_sample(1, 7, [&] { return ++calls % 2 == 0 ? 2.0 : 1.0; });
  EXPECT_EQ(hopeless.repetitions, 7 * kMaxRepetitionFactor);
  EXPECT_GT(hopeless.noise.value(), kMaxNoise);
}

TEST(Measuring, WhatCannotBeTakenIsLeftOutAndSaid) {
  auto const model = model_of("h100-pcie-x2-workstation");
  auto const series = series_to_measure(model, {.patterns = false, .max_bytes = 1_MiB});
  TenGigabytesPerSecond meter;
  meter.refuses = {Mechanism::HostStaged};
  std::vector<std::string> skipped;
  MeasuringObserver watch;
  watch.skipped = [&](std::string const& why) { skipped.push_back(why); };
  auto const result = measure(model, meter, series, {}, watch);
  EXPECT_EQ(points(result.series) + skipped.size(), points(series));
  EXPECT_THAT(skipped, Contains("staged: not here"));
}

// Saved after every series, so that an interruption loses one series at most.
TEST(Measuring, SavesAsItGoesAndCounts) {
  auto const model = model_of("h100-pcie-x2-workstation");
  auto const series = series_to_measure(model, {.max_bytes = 1_MiB});
  TenGigabytesPerSecond meter;
  std::vector<std::size_t> saved;
  std::vector<MeasuringProgress> seen;
  MeasuringObserver watch;
  watch.save = [&](Measurement const& so_far) { saved.push_back(points(so_far.series)); };
  watch.progress = [&](MeasuringProgress const& progress) { seen.push_back(progress); };
  measure(model, meter, series, {}, watch);
  EXPECT_EQ(saved.size(), series.size());
  EXPECT_TRUE(std::is_sorted(saved.begin(), saved.end()));
  ASSERT_EQ(seen.size(), points(series));
  EXPECT_EQ(seen.back().done, seen.back().all);
  EXPECT_NEAR(seen.back().left.value(), 0, 1e-9);
}

TEST(Measuring, ReadsBackFromItsFile) {
  auto const model = model_of("h100-pcie-x2-workstation");
  TenGigabytesPerSecond meter;
  Measurement begun;
  begun.name = "m";
  begun.machine = "h100-pcie-x2-workstation";
  begun.source = "test";
  begun.method = "test";
  auto const measured = measure(model, meter, series_to_measure(model, {.max_bytes = 1_MiB}), begun, {});
  auto const text = to_json(measured).dump(1);
  EXPECT_EQ(to_json(read_measurement(SourceText::from_memory("m.json", text))).dump(1), text);
}

}  // namespace
}  // namespace lanewise
