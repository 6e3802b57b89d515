// A machine with a hidden fault is measured by the model itself, with noise; judge must find that fault and no other.
#include "core/diagnosis/diagnosis.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "core/view/diagnosis_text.hpp"
#include "lanewise/estimate/estimating_executor.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

Catalogue& catalogue() {
  static Catalogue all = bundled();
  return all;
}

AccuracyContext context_of(std::string const& machine, std::vector<Setting> const& settings = {}) {
  return {.machine = [machine](Measurement const&) { return catalogue().machine(machine); },
          .override_machine =
              [settings](Machine& changed) {
                for (auto const& setting : settings) apply_setting(changed, setting, catalogue());
              },
          .executor = [](Model const& model) { return std::make_unique<EstimatingExecutor>(model); },
          .catalogue = catalogue()};
}

MeasuredSeries series_named(std::string name) {
  MeasuredSeries series;
  series.name = std::move(name);
  return series;
}

// Host copies of every GPU and copies of every pair, each of 256 MiB.
Measurement questions(std::string const& name, Mechanism peer) {
  auto const machine = catalogue().machine(name);
  Measurement m;
  m.name = "made";
  m.machine = name;
  auto down = series_named("host-to-device");
  auto up = series_named("device-to-host");
  auto peers = series_named("peer-copies");
  peers.mechanism = peer;
  Bytes const size(256 << 20);
  for (auto const gpu : machine.all(PciKind::Gpu)) {
    auto const& its = machine.at(gpu).name;
    auto const& host = machine.at(machine.numa_of(gpu)).name;
    down.points.push_back({{{host, its}}, size, {}, 1, {}, {}});
    up.points.push_back({{{its, host}}, size, {}, 1, {}, {}});
    for (auto const other : machine.all(PciKind::Gpu))
      if (other != gpu) peers.points.push_back({{{its, machine.at(other).name}}, size, {}, 1, {}, {}});
  }
  m.series = {down, up, peers};
  return m;
}

// What the model says of `asked` under the settings, with 2 % of noise, as the figures of `labelled`.
Measurement measured(Measurement labelled, Measurement const& asked, std::vector<Setting> const& settings) {
  auto const result = evaluate(asked, context_of(asked.machine, settings));
  std::mt19937 random(7);
  std::normal_distribution<double> noise(1, 0.02);
  std::size_t at = 0;
  for (auto& series : labelled.series)
    for (auto& point : series.points) {
      auto const& predicted = result.points.at(at++).predicted;
      EXPECT_TRUE(predicted.has_value()) << series.name;
      point.value = predicted.value_or(1) * noise(random);
    }
  return labelled;
}

Diagnosis diagnosed(Measurement const& measurement) { return diagnose(measurement, context_of(measurement.machine)); }

// Everything a cause says of settings: its own, and the states that would carry as much.
std::vector<std::string> states(Cause const& cause) {
  auto all = cause.what.likewise;
  for (auto const& setting : cause.what.settings) all.push_back(setting.value);
  return all;
}

struct Hidden {
  std::string name;
  std::string machine;
  Mechanism peer;
  Setting fault;
  CauseKind kind;
  std::string subject;
};
class HiddenFault : public testing::TestWithParam<Hidden> {};

TEST_P(HiddenFault, IsNamed) {
  auto const& hidden = GetParam();
  auto const questions_of = questions(hidden.machine, hidden.peer);
  auto const diagnosis = diagnosed(measured(questions_of, questions_of, {hidden.fault}));
  EXPECT_EQ(diagnosis.worst(), Grade::Fail);
  ASSERT_EQ(diagnosis.causes.size(), 1U) << diagnosis_text(diagnosis);
  auto const& cause = diagnosis.causes.front();
  EXPECT_EQ(cause.what.kind, hidden.kind) << diagnosis_text(diagnosis);
  EXPECT_EQ(cause.what.subject, hidden.subject);
  EXPECT_THAT(states(cause), Contains(hidden.fault.value));
  EXPECT_EQ(cause.explained, diagnosis.slow());
  EXPECT_GT(cause.explained, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    All, HiddenFault,
    testing::Values(
        Hidden{
            "narrow_and_old", "a100x8-pcie-4sw", Mechanism::PcieP2p, {"link@gpu3", "gen3 x8"}, CauseKind::Link, "gpu3"},
        Hidden{
            "half_width", "rtx6000pro-x8-bcm", Mechanism::PcieP2p, {"link@gpu6", "gen5 x8"}, CauseKind::Link, "gpu6"},
        Hidden{"old_beside_nvlink", "hgx-h100", Mechanism::Nvlink, {"link@gpu5", "gen3 x16"}, CauseKind::Link, "gpu5"},
        Hidden{"switch_uplink", "a100x8-pcie-4sw", Mechanism::PcieP2p, {"link@sw1", "gen4 x4"}, CauseKind::Link, "sw1"},
        Hidden{
            "no_switch", "rtx6000pro-x8-genoa", Mechanism::PcieP2p, {"link@gpu0", "gen5 x4"}, CauseKind::Link, "gpu0"}),
    [](auto const& test) { return test.param.name; });

TEST(Diagnosis, HealthyMachinesPass) {
  for (auto const* machine : {"a100x8-pcie-4sw", "rtx6000pro-x8-bcm"}) {
    auto const asked = questions(machine, Mechanism::PcieP2p);
    auto const diagnosis = diagnosed(measured(asked, asked, {}));
    EXPECT_EQ(diagnosis.worst(), Grade::Pass) << diagnosis_text(diagnosis);
    EXPECT_TRUE(diagnosis.causes.empty());
  }
}

TEST(Diagnosis, TwoFaultsAreTwoCauses) {
  auto const asked = questions("a100x8-pcie-4sw", Mechanism::PcieP2p);
  auto const diagnosis = diagnosed(measured(asked, asked, {{"link@gpu3", "gen3 x8"}, {"link@gpu6", "gen1 x16"}}));
  ASSERT_EQ(diagnosis.causes.size(), 2U) << diagnosis_text(diagnosis);
  std::vector<std::string> subjects{diagnosis.causes[0].what.subject, diagnosis.causes[1].what.subject};
  EXPECT_THAT(subjects, testing::UnorderedElementsAre("gpu3", "gpu6"));
  EXPECT_EQ(diagnosis.causes[0].explained + diagnosis.causes[1].explained, diagnosis.slow());
}

// Every GPU of eight servers sends to its like in another pod at once: alone none is slow.
TEST(Diagnosis, AHashedNetworkIsNamed) {
  Measurement asked;
  asked.machine = "hgx-h100-16-three-tiers";
  auto alone = series_named("alone");
  auto together = series_named("together");
  Bytes const size(256 << 20);
  MeasuredPoint all{{}, size, {}, 1, {}, {}};
  for (int node = 0; node < 8; ++node)
    for (int gpu = 0; gpu < 2; ++gpu) {
      MeasuredFlow const flow{fmt::format("node{}/gpu{}", node, gpu), fmt::format("node{}/gpu{}", node + 8, gpu)};
      all.flows.push_back(flow);
      if (gpu == 0) alone.points.push_back({{flow}, size, {}, 1, {}, {}});
    }
  together.points = {all};
  asked.series = {alone, together};
  auto const diagnosis = diagnosed(measured(asked, asked, {{"routing", "ecmp"}}));
  ASSERT_FALSE(diagnosis.causes.empty()) << diagnosis_text(diagnosis);
  EXPECT_EQ(diagnosis.causes[0].what.kind, CauseKind::Fabric) << diagnosis_text(diagnosis);
  EXPECT_TRUE(diagnosed(measured(asked, asked, {})).causes.empty());
}

TEST(Diagnosis, ASmallApertureIsAmongTheCausesOfPeers) {
  auto machine = catalogue().machine("a100x8-pcie-4sw");
  auto const asked = questions("a100x8-pcie-4sw", Mechanism::PcieP2p);
  auto const found = hypotheses_for(machine, {{&asked.series[2], &asked.series[2].points[0]}}, catalogue());
  auto const small =
      std::find_if(found.begin(), found.end(), [](auto const& one) { return one.kind == CauseKind::Bar1; });
  ASSERT_NE(small, found.end());
  small->change(machine);
  EXPECT_EQ(machine.part_of(machine.all(PciKind::Gpu).front())->gpu.bar1, Bytes(256 << 20));
}

// All figures are half of what they should be: a power limit, not eight links that trained down.
TEST(Diagnosis, LowClocksSlowEverything) {
  auto const right = questions("a100x8-pcie-4sw", Mechanism::PcieP2p);
  auto slow = measured(right, right, {});
  for (auto& series : slow.series)
    for (auto& point : series.points) point.value /= 2;
  auto const diagnosis = diagnosed(slow);
  ASSERT_FALSE(diagnosis.causes.empty());
  EXPECT_EQ(diagnosis.causes[0].what.kind, CauseKind::Clock) << diagnosis_text(diagnosis);
  EXPECT_EQ(diagnosis.causes[0].what.slowdown, 2);
  EXPECT_EQ(diagnosis.causes[0].explained, diagnosis.slow());
  // Where one figure is as it should be, it is not the clocks.
  slow.series[0].points[0].value *= 2;
  for (auto const& cause : diagnosed(slow).causes) EXPECT_NE(cause.what.kind, CauseKind::Clock);
}

TEST(Diagnosis, BounceBuffersSlowCopiesOfTheHost) {
  auto confidential = questions("hgx-h100", Mechanism::Nvlink);
  confidential = measured(confidential, confidential, {});
  for (std::size_t s : {0U, 1U})
    for (auto& point : confidential.series[s].points) point.value = 3.1e9;
  auto const diagnosis = diagnosed(confidential);
  ASSERT_FALSE(diagnosis.causes.empty());
  EXPECT_EQ(diagnosis.causes[0].what.kind, CauseKind::Confidential) << diagnosis_text(diagnosis);
  EXPECT_THAT(diagnosis.causes[0].what.text, HasSubstr("at 3 GB/s"));
}

// Figures of two DGX Stations: 48.73 and 26.62 GB/s each way
// (measurements/published/dgx-station-gb300-2-perftest.yaml).
TEST(Diagnosis, DataDirectThatIsNotUsedIsNamed) {
  Measurement asked;
  asked.machine = "dgx-station-gb300-2";
  auto both = series_named("both-ways");
  both.mechanism = Mechanism::Gdr;
  both.op = Op::Write;
  both.points = {{{{"node0/gpu0", "node1/gpu0"}, {"node1/gpu0", "node0/gpu0"}}, Bytes(2LL << 30), {}, 53.24e9, {}, {}}};
  asked.series = {both};
  auto const diagnosis = diagnosed(asked);
  ASSERT_FALSE(diagnosis.causes.empty());
  EXPECT_EQ(diagnosis.causes[0].what.kind, CauseKind::DataDirect) << diagnosis_text(diagnosis);
  EXPECT_THAT(diagnosis.causes[0].what.settings, Contains(Setting{"rate@node1/nic0", "217 Gb/s"}));
  asked.series[0].points[0].value = 97.46e9;
  EXPECT_TRUE(diagnosed(asked).causes.empty());
}

TEST(Diagnosis, TranslationServicesAreACauseWhereTheyAreInUse) {
  auto machine = catalogue().machine("hgx-h100");
  auto const asked = questions("hgx-h100", Mechanism::Nvlink);
  auto const named = [&] {
    auto const found = hypotheses_for(machine, {{&asked.series[0], &asked.series[0].points[0]}}, catalogue());
    return std::any_of(found.begin(), found.end(), [](auto const& one) { return one.kind == CauseKind::Ats; });
  };
  EXPECT_FALSE(named());
  for (auto const* text : {"iommu=translated", "virtualization.ats=on"})
    apply_setting(machine, parse_setting(text), catalogue());
  EXPECT_TRUE(named());
}

// The benchmark took the memory of one node for all GPUs.
TEST(Diagnosis, HostMemoryOfAnotherNodeIsNamed) {
  auto right = questions("gh200x4", Mechanism::Nvlink);
  right.series.resize(2);
  auto far = right;
  for (auto& series : far.series)
    for (auto& point : series.points)
      for (auto* end : {&point.flows[0].from, &point.flows[0].to})
        if (end->starts_with("numa")) *end = "numa0";
  auto const diagnosis = diagnosed(measured(right, far, {}));
  EXPECT_EQ(diagnosis.count(Grade::Fail), 6U);  // three GPUs, both directions
  ASSERT_EQ(diagnosis.causes.size(), 1U) << diagnosis_text(diagnosis);
  EXPECT_EQ(diagnosis.causes[0].what.kind, CauseKind::Numa);
  EXPECT_EQ(diagnosis.causes[0].what.subject, "numa0") << diagnosis_text(diagnosis);
  EXPECT_EQ(diagnosis.causes[0].explained, 6U);
}

// Copies that the driver stages are slow where peer access would be fast; and a refusal is a fault of its own.
TEST(Diagnosis, RefusedPeerAccessIsNamed) {
  auto const labelled = questions("a100x8-pcie-4sw", Mechanism::PcieP2p);
  auto staged = labelled;
  staged.series[2].mechanism = Mechanism::HostStaged;
  staged.series[2].by_driver = true;
  auto measurement = measured(labelled, staged, {});
  auto const diagnosis = diagnosed(measurement);
  ASSERT_FALSE(diagnosis.causes.empty()) << diagnosis_text(diagnosis);
  EXPECT_EQ(diagnosis.causes[0].what.kind, CauseKind::PeerRefused) << diagnosis_text(diagnosis);

  MeasuredFact fact;
  fact.flow = {"gpu0", "gpu1"};
  fact.bytes = Bytes(1 << 20);
  fact.mechanism = Mechanism::PcieP2p;
  fact.legal = false;
  Measurement refusal;
  refusal.machine = "a100x8-pcie-4sw";
  refusal.facts = {fact};
  auto const refused = diagnosed(refusal);
  EXPECT_EQ(refused.worst(), Grade::Fail);
  ASSERT_EQ(refused.causes.size(), 1U);
  EXPECT_EQ(refused.causes[0].refusals, 1U);
  refusal.facts[0].legal = true;
  EXPECT_EQ(diagnosed(refusal).worst(), Grade::Pass);
}

TEST(Diagnosis, NvlinksThatAreDownAreCounted) {
  auto const asked = questions("hgx-h100", Mechanism::Nvlink);
  auto context = context_of("hgx-h100");
  context.override_machine = [](Machine& machine) {
    for (auto& port : machine.nvswitches.at(0).ports)
      if (machine.at(port.gpu).name == "gpu2") port.count = 9;
  };
  auto const result = evaluate(asked, context);
  auto measurement = asked;
  std::size_t at = 0;
  for (auto& series : measurement.series)
    for (auto& point : series.points) point.value = *result.points[at++].predicted;
  auto const diagnosis = diagnosed(measurement);
  ASSERT_EQ(diagnosis.causes.size(), 1U) << diagnosis_text(diagnosis);
  EXPECT_EQ(diagnosis.causes[0].what.kind, CauseKind::Nvlink);
  EXPECT_EQ(diagnosis.causes[0].what.text, "9 of the 18 NVLinks of gpu2 are down");
}

// The bounds of pass, warn and fail, in shares of what is predicted: the range of a large copy has its slow end at
// 0.86.
TEST(Diagnosis, GradesFollowTheRange) {
  auto asked = questions("a100x8-pcie-4sw", Mechanism::PcieP2p);
  asked.series.resize(1);
  asked.series[0].points.resize(1);
  auto const predicted = evaluate(asked, context_of(asked.machine)).points[0];
  auto const end = predicted.interval.low / *predicted.predicted;
  auto const grade_at = [&](double share) {
    asked.series[0].points[0].value = *predicted.predicted * share;
    return diagnosed(asked).points[0].grade;
  };
  EXPECT_EQ(grade_at(1), Grade::Pass);
  EXPECT_EQ(grade_at(end * 1.01), Grade::Pass);
  EXPECT_EQ(grade_at(end * 0.99), Grade::Warn);
  EXPECT_EQ(grade_at(end * end * 1.01), Grade::Warn);
  EXPECT_EQ(grade_at(end * end * 0.99), Grade::Fail);
  EXPECT_EQ(grade_at(1.5), Grade::Warn);  // faster than it should be: another machine?
}

// One of eight that is 12 % slower than the rest is inside the model's range, but not like its like.
TEST(Diagnosis, AFigureUnlikeItsLikeWarns) {
  auto const asked = questions("a100x8-pcie-4sw", Mechanism::PcieP2p);
  auto measurement = measured(asked, asked, {});
  measurement.series[0].points[4].value = *diagnosed(measurement).points[4].result.predicted * 0.88;
  auto const diagnosis = diagnosed(measurement);
  EXPECT_EQ(diagnosis.count(Grade::Warn), 1U) << diagnosis_text(diagnosis);
  EXPECT_THAT(diagnosis.points[4].remark, HasSubstr("slower than its like"));
}

TEST(Diagnosis, DoubtfulFiguresAreLeftOut) {
  auto asked = questions("a100x8-pcie-4sw", Mechanism::PcieP2p);
  asked.series[2].doubtful = "nobody knows how";
  auto const diagnosis = diagnosed(asked);  // every figure is 1 B/s
  EXPECT_EQ(diagnosis.left_out_count(), 56U);
  EXPECT_THAT(diagnosis_text(diagnosis), HasSubstr("\n56 left out: nobody knows how\n"));
  EXPECT_EQ(diagnosis.points.size(), 16U);
  EXPECT_EQ(diagnosis.worst(), Grade::Fail);
}

TEST(Diagnosis, IsPrintedAndJson) {
  auto const asked = questions("a100x8-pcie-4sw", Mechanism::PcieP2p);
  auto const diagnosis = diagnosed(measured(asked, asked, {{"link@gpu3", "gen4 x8"}}));
  auto const text = diagnosis_text(diagnosis);
  EXPECT_THAT(text, HasSubstr("Cause 1: the PCIe link of gpu3 runs at gen4 x8 instead of gen4 x16"));
  EXPECT_THAT(text, HasSubstr("--set \"link@gpu3=gen4 x8\""));
  auto const json = diagnosis_json(diagnosis);
  EXPECT_EQ(json["lanewise"], "judgement/1");
  EXPECT_EQ(json["grade"], "fail");
  EXPECT_EQ(json["causes"][0]["kind"], "link");
  EXPECT_EQ(json["causes"][0]["settings"][0], "link@gpu3=gen4 x8");
  EXPECT_EQ(json["points"].size(), diagnosis.points.size());
}

// A figure whose repetitions differ by as much as it is slow does not fail.
TEST(Noise, OnlyFailsWhatIsSlowBeyondIt) {
  auto const asked = questions("hgx-h100", Mechanism::Nvlink);
  auto measurement = measured(asked, asked, {});
  auto& slow = measurement.series[0].points[0];
  slow.value *= 0.6;
  auto const grade = [&] { return diagnosed(measurement).points.front().grade; };
  EXPECT_EQ(grade(), Grade::Fail);
  slow.noise = 0.3;
  EXPECT_EQ(grade(), Grade::Warn);
  EXPECT_THAT(diagnosed(measurement).points.front().remark, HasSubstr("its repetitions differ"));
  slow.noise = 0.01;
  EXPECT_EQ(grade(), Grade::Fail);
  // The machine drifted, as its reference transfers say.
  measurement.noise = {{{"numa0", "gpu0"}, 20, 0.6}};
  EXPECT_EQ(grade(), Grade::Warn);
}

}  // namespace
}  // namespace lanewise::test
