// Plans on small machines, with figures that can be written down, and every single transfer of bundled machines.
#include "lanewise/sim/simgrid_executor.hpp"
#include "lanewise/machine/fingerprint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/model/resources/overheads.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise::sim {
namespace {

using namespace literals;

// gen4 x16: 16 GT/s x 16 lanes / 8 x 128/130; 256 of 286 bytes a packet; 0.93 of that in bulk.
constexpr double kLink = 16e9 * 16 / 8 * 128 / 130 * 256 / 286 * 0.93;
constexpr double kBytes = 256.0 * (1 << 20);
// A copy engine starts in 1.3 us; the two ends take 130 ns each, the switch 105 ns; a detour two passes and the root
// complex, 370 ns.
constexpr double kDirect = 1.3e-6 + 130e-9 + 105e-9 + 130e-9;
constexpr double kDetour = 1.3e-6 + 130e-9 + 105e-9 + 370e-9 + 105e-9 + 130e-9;
constexpr double kResolution = 1e-11;

Machine three_gpus(std::string const& acs, int copy_engines) {
  return Catalogue({}).machine_from(SourceText::from_memory("three.yaml", R"(lanewise: machine/1
machine: three-gpus
settings: {acs: )" + acs + R"(, iommu: off, virtualization: none}
parts:
  cpu: {kind: cpu, host_bridges: per_root_port, root_port_generation: 4}
  gpu: {kind: gpu, vendor: nvidia, link: gen4 x16, peer_copy_engines: )" + std::to_string(copy_engines) +
                                                                              R"(}
  pcie-switch: {kind: switch, link: gen4 x16}
sockets:
  - socket: cpu0
    part: cpu
    pcie:
      - root_port: rp0
        link: gen4 x16
        switch: sw0
        part: pcie-switch
        ports:
          - {gpu: gpu0, part: gpu, link: gen4 x16}
          - {gpu: gpu1, part: gpu, link: gen4 x16}
          - {gpu: gpu2, part: gpu, link: gen4 x16}
)"));
}

Step write(Machine const& machine, std::string const& from, std::string const& to, std::vector<StepId> after = {}) {
  return {
      from + "-" + to, machine.place(from), machine.place(to), 256_MiB, Op::Copy, Way{.mechanism = Mechanism::PcieP2p},
      std::move(after)};
}

Plan plan_of(Machine const& machine, std::vector<Step> steps) {
  return {machine.name, fingerprint(machine), std::move(steps), {}};
}

Trace run(Model const& model, std::vector<Step> steps) {
  return SimGridExecutor(model).run(plan_of(model.machine(), std::move(steps)));
}

ResourceTrace resource(Trace const& trace, std::string const& name) {
  for (auto const& found : trace.resources)
    if (found.name == name) return found;
  return {};
}

TEST(SimGridExecutor, ACopyTakesItsLatencyAndItsBytesOverTheLink) {
  Model const model(three_gpus("off", 2));
  auto const trace = run(model, {write(model.machine(), "gpu0", "gpu1")});
  EXPECT_NEAR(trace.makespan.value(), kDirect + kBytes / kLink, kResolution);
  EXPECT_EQ(trace.mode, "sim");
  EXPECT_EQ(trace.machine, "three-gpus");
  EXPECT_EQ(trace.fingerprint, fingerprint(model.machine()));
  EXPECT_FALSE(trace.steps[0].verified.has_value());
}

TEST(SimGridExecutor, OneCopyEngineMakesCopiesWait) {
  Model const model(three_gpus("off", 1));
  auto const trace = run(model, {write(model.machine(), "gpu0", "gpu1"), write(model.machine(), "gpu0", "gpu2")});
  auto const alone = kDirect + kBytes / kLink;
  EXPECT_NEAR(trace.steps[0].end.value(), alone, kResolution);
  EXPECT_NEAR(trace.steps[1].start.value(), alone, kResolution);
  EXPECT_NEAR(trace.steps[1].end.value(), 2 * alone, kResolution);
}

TEST(SimGridExecutor, TwoCopyEnginesShareTheLink) {
  Model const model(three_gpus("off", 2));
  auto const trace = run(model, {write(model.machine(), "gpu0", "gpu1"), write(model.machine(), "gpu0", "gpu2")});
  for (auto const& step : trace.steps) {
    EXPECT_EQ(step.start.value(), 0);
    EXPECT_NEAR(step.end.value(), kDirect + 2 * kBytes / kLink, kResolution);
  }
}

TEST(SimGridExecutor, AStepWaitsForThoseBeforeIt) {
  Model const model(three_gpus("off", 2));
  auto const trace =
      run(model, {write(model.machine(), "gpu0", "gpu1"), write(model.machine(), "gpu1", "gpu2", {StepId(0)})});
  EXPECT_EQ(trace.steps[1].start, trace.steps[0].end);
  auto const seen = overheads::kChunkGap.value();  // by one GPU's engine of the other's end
  EXPECT_NEAR(trace.makespan.value(), 2 * (kDirect + kBytes / kLink) + seen, kResolution);
}

TEST(SimGridExecutor, WithoutAcsBothDirectionsHaveTheWholeLink) {
  Model const model(three_gpus("off", 2));
  auto const trace = run(model, {write(model.machine(), "gpu0", "gpu1"), write(model.machine(), "gpu1", "gpu0")});
  EXPECT_NEAR(trace.makespan.value(), kDirect + kBytes / kLink, kResolution);
  EXPECT_EQ(resource(trace, "sw0.pcie.up").bytes, 0);
}

TEST(SimGridExecutor, WithAcsBothDirectionsPassTheUplinkUpAndDown) {
  Model const model(three_gpus("on", 2));
  auto const trace = run(model, {write(model.machine(), "gpu0", "gpu1"), write(model.machine(), "gpu1", "gpu0")});
  EXPECT_NEAR(trace.makespan.value(), kDetour + 2 * kBytes / kLink, kResolution);
  for (auto const* name : {"sw0.pcie.up", "sw0.pcie.down"})
    EXPECT_NEAR(resource(trace, name).bytes, 2 * kBytes, 2 * kBytes * 1e-6) << name;
  for (auto const* name : {"gpu0.pcie.up", "gpu0.pcie.down", "gpu1.pcie.up", "gpu1.pcie.down"})
    EXPECT_NEAR(resource(trace, name).bytes, kBytes, kBytes * 1e-6) << name;
  EXPECT_NEAR(trace.resources[0].utilisation, 2 * kBytes / kLink / (kDetour + 2 * kBytes / kLink), 1e-6);
}

// Two sources below one uplink, two other root ports: together they get what the quirk says.
TEST(SimGridExecutor, PostedWritesCollapseWhereThePartDoes) {
  auto machine = Catalogue({LANEWISE_SOURCE_DIR "/topologies"}).machine("rtx6000pro-x8-bcm");
  auto const makespan = [&] {
    Model const model(machine);
    return run(model, {write(machine, "gpu0", "gpu4"), write(machine, "gpu1", "gpu6")}).makespan.value();
  };
  auto const usual = makespan();
  for (auto& part : machine.parts)
    if (part.name == "pex89144") part.pcie_switch.posted_write_collapse = BytesPerSecond(2.7e9);
  EXPECT_NEAR(makespan(), 2 * kBytes / 2.7e9, 1e-5);
  EXPECT_LT(usual, 0.1 * makespan());
  Model const model(machine);
  auto const trace = run(model, {write(machine, "gpu0", "gpu4"), write(machine, "gpu1", "gpu6")});
  EXPECT_EQ(trace.resources.front().name, "sw0.posted_write_collapse");  // what holds them back is named
}

TEST(SimGridExecutor, UtilisationOverTimeIsTheBytesCarried) {
  Model const model(Catalogue({LANEWISE_SOURCE_DIR "/topologies"}).machine("a100x8-pcie-4sw"));
  auto const& machine = model.machine();
  std::vector<Request> requests;
  for (auto const& [from, to] : {std::pair("gpu0", "gpu1"), {"gpu1", "gpu4"}, {"gpu5", "gpu0"}, {"numa0", "gpu2"}})
    requests.push_back(
        {.id = from + std::string(to), .from = machine.place(from), .to = machine.place(to), .bytes = 64_MiB});
  auto const plan = Planner(model).plan(requests);
  auto const trace = SimGridExecutor(model).run(plan);
  std::map<std::string, double> expected;
  std::map<std::string, double> capacity;
  for (auto const& step : plan.steps)
    for (auto const& use : model.lower(step.from, step.to, step.bytes, step.op, step.way).uses) {
      auto const& used = model.resources().at(use.resource);
      expected[used.name] += use.weight.ratio() * static_cast<double>(step.bytes.value());
      capacity[used.name] = used.capacity->value();
    }
  EXPECT_EQ(trace.resources.size(), expected.size());
  for (auto const& found : trace.resources) {
    auto const bytes = expected.at(found.name);
    EXPECT_NEAR(found.bytes, bytes, bytes * 1e-5) << found.name;
    EXPECT_NEAR(found.utilisation * capacity.at(found.name) * trace.makespan.value(), bytes, bytes * 1e-5)
        << found.name;
    EXPECT_LE(found.utilisation, 1.0) << found.name;
  }
}

TEST(SimGridExecutor, TheSamePlanGivesTheSameTrace) {
  Model const model(three_gpus("on", 1));
  std::vector<Step> const steps{write(model.machine(), "gpu0", "gpu1"), write(model.machine(), "gpu1", "gpu0"),
                                write(model.machine(), "gpu0", "gpu2"),
                                write(model.machine(), "gpu2", "gpu1", {StepId(0)})};
  auto const first = run(model, steps);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(to_json(run(model, steps)).dump(), to_json(first).dump()) << i;
}

TEST(SimGridExecutor, ATraceSurvivesJson) {
  Model const model(three_gpus("on", 1));
  auto trace = run(model, {write(model.machine(), "gpu0", "gpu1"), write(model.machine(), "gpu1", "gpu0"),
                           write(model.machine(), "gpu0", "gpu2")});
  trace.steps[1].verified = true;
  EXPECT_EQ(trace_from_json(nlohmann::ordered_json::parse(to_json(trace).dump())), trace);
}

TEST(SimGridExecutor, AnUnknownFigureIsNamed) {
  Model const model(three_gpus("off", 1));  // its GPU gives no memory bandwidth
  auto step = write(model.machine(), "gpu0", "gpu0");
  step.way = {.mechanism = Mechanism::Local};
  try {
    run(model, {step});
    FAIL() << "nothing was thrown";
  } catch (PlanError const& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("gpu0-gpu0"), testing::HasSubstr("the memory bandwidth of 'gpu0'")));
  }
}

TEST(SimGridExecutor, ACircleIsRefused) {
  Model const model(three_gpus("off", 1));
  EXPECT_THROW(run(model, {write(model.machine(), "gpu0", "gpu1", {StepId(1)}),
                           write(model.machine(), "gpu1", "gpu0", {StepId(0)})}),
               PlanError);
}

// ---------------------------------------------------------------------------------------------- against the estimate

class BundledMachine : public testing::TestWithParam<char const*> {};

// The planner's estimate of a transfer alone and its simulation are of the same demand.
TEST_P(BundledMachine, EverySingleTransferTakesItsEstimate) {
  Model const model(Catalogue({LANEWISE_SOURCE_DIR "/topologies"}).machine(GetParam()));
  auto const& machine = model.machine();
  std::vector<Place> places;
  for (auto const gpu : machine.all(PciKind::Gpu)) places.emplace_back(gpu);
  for (std::size_t i = 0; i < machine.numa_nodes.size(); ++i) places.emplace_back(NumaId(i));
  Planner const planner(model);
  SimGridExecutor executor(model);
  int runs = 0;
  for (auto const& from : places)
    for (auto const& to : places)
      for (auto const& judged : planner.choose({.id = "alone", .from = from, .to = to, .bytes = 64_MiB}).evaluated) {
        if (!judged.cost || judged.refused_by != nullptr) continue;
        auto const trace = executor.run(plan_of(machine, {{"alone", from, to, 64_MiB, Op::Copy, judged.way, {}}}));
        auto const expected = judged.cost->time.value();
        ASSERT_NEAR(trace.makespan.value(), expected, expected * 1e-6)
            << machine.name_of(from) << " to " << machine.name_of(to) << " by " << text_of(judged.way, machine);
        ++runs;
      }
  EXPECT_GE(runs, static_cast<int>(places.size() * places.size()));
}

INSTANTIATE_TEST_SUITE_P(Machines, BundledMachine,
                         testing::Values("a100x8-pcie-4sw", "dgx-1-v100", "rtx6000pro-x8-bcm"),
                         [](auto const& machine) {
                           std::string name = machine.param;
                           for (auto& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace lanewise::sim
