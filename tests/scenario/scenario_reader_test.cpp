#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lanewise/io/error.hpp"
#include "lanewise/scenario/scenario.hpp"

namespace lanewise {
namespace {

using namespace literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Scenario read(std::string const& text) { return read_scenario(SourceText::from_memory("s.yaml", text)); }

std::string error_of(std::string const& text) {
  try {
    read(text);
  } catch (InputError const& error) {
    return error.what();
  }
  return "no error";
}

std::string const kStart =
    "lanewise: scenario/1\nscenario: s\nmachines: [m]\ntransfers:\n  - {id: a, from: gpu0, to: gpu1, bytes: 1 "
    "MiB}\n";  // 5 lines
std::string with(std::string const& rest) { return kStart + rest; }

TEST(ScenarioReader, ReadsEverything) {
  auto const s = read(R"(lanewise: scenario/1
scenario: everything
title: all of it
source: a book
machines: [one, two.yaml]
settings: {iommu: pt}
transfers:
  - {id: a, from: gpu0, to: gpu1, bytes: 256 MiB}
  - {id: b, from: gpu1, to: numa0, bytes: 64 B, op: write, mechanism: host_dma, after: [a]}
  - {id: c, from: numa0, to: numa1, bytes: 1 GiB, cores: 8}
variants:
  - {name: off, settings: {acs: off}}
  - {name: on, settings: {acs: on}}
expect:
  - {machine: one, variant: on, transfer: a, mechanism: [pcie_p2p, nvlink], avoids: root_complex, through: [switch, sw0], refuses: {nvlink: NVLINK-NONE}}
  - {transfer: b, bandwidth: ">= 1 GB/s", latency: "<= 5 us", regret: "<= 2 %"}
  - {makespan: ">= 1.8 x off"}
)");
  EXPECT_EQ(s.name, "everything");
  EXPECT_EQ(s.title, "all of it");
  EXPECT_EQ(s.source, "a book");
  EXPECT_THAT(s.machines, ElementsAre("one", "two.yaml"));
  EXPECT_THAT(s.settings, ElementsAre(Setting{"iommu", "pt"}));
  EXPECT_THAT(
      s.transfers,
      ElementsAre(
          TransferSpec{
              "a", "gpu0", "gpu1", 256_MiB, std::nullopt, std::nullopt, false, {}, false, 0, 0, {}, {"s.yaml", 8, 5}},
          TransferSpec{"b",
                       "gpu1",
                       "numa0",
                       64_B,
                       Op::Write,
                       Mechanism::HostDma,
                       false,
                       {},
                       false,
                       0,
                       0,
                       {"a"},
                       {"s.yaml", 9, 5}},
          TransferSpec{"c",
                       "numa0",
                       "numa1",
                       1_GiB,
                       std::nullopt,
                       std::nullopt,
                       false,
                       {},
                       false,
                       0,
                       8,
                       {},
                       {"s.yaml", 10, 5}}));
  EXPECT_THAT(s.variants, ElementsAre(Variant{"off", {{"acs", "off"}}}, Variant{"on", {{"acs", "on"}}}));
  ASSERT_EQ(s.expectations.size(), 3U);
  auto const& first = s.expectations[0];
  EXPECT_EQ(first.machine, "one");
  EXPECT_EQ(first.variant, "on");
  EXPECT_EQ(first.transfer, "a");
  EXPECT_THAT(first.mechanisms, ElementsAre(Mechanism::PcieP2p, Mechanism::Nvlink));
  EXPECT_THAT(first.avoids, ElementsAre("root_complex"));
  EXPECT_THAT(first.through, ElementsAre("switch", "sw0"));
  EXPECT_EQ(first.refuses, std::pair(Mechanism::Nvlink, std::string("NVLINK-NONE")));
  EXPECT_EQ(first.pos, (SourcePos{"s.yaml", 15, 5}));
  auto const& second = s.expectations[1];
  EXPECT_EQ(second.bandwidth->at_least, 1e9);
  EXPECT_DOUBLE_EQ(second.latency->at_most.value(), 5e-6);
  EXPECT_EQ(second.regret->at_most, 0.02);
  EXPECT_EQ(s.expectations[2].makespan->relative_to, "off");
}

TEST(ScenarioReader, WithoutVariantsThereIsOneThatChangesNothing) {
  EXPECT_THAT(read(kStart).variants, ElementsAre(Variant{}));
}

TEST(ScenarioReader, SettingsBecomeFlat) {
  auto const s =
      read(with("settings: {acs@sw0: [RR, CR], link@gpu1: gen3 x8, virtualization: {approval: true, clique: [gpu0, "
                "gpu1]}, software.peermem: off}\n"));
  EXPECT_THAT(s.settings,
              ElementsAre(Setting{"acs@sw0", "RR,CR"}, Setting{"link@gpu1", "gen3 x8"},
                          Setting{"virtualization.approval", "true"}, Setting{"virtualization.clique", "gpu0,gpu1"},
                          Setting{"software.peermem", "off"}));
}

TEST(ScenarioReader, TheOnlyTransferNeedNotBeNamed) {
  EXPECT_EQ(read(with("expect: [{mechanism: pcie_p2p}]\n")).expectations[0].transfer, "a");
  EXPECT_EQ(read(with("expect: [{makespan: <= 1 s}]\n")).expectations[0].transfer, "");
}

TEST(ScenarioReader, AmongSeveralTheTransferMustBeNamed) {
  auto const text = with("  - {id: b, from: gpu1, to: gpu0, bytes: 1 MiB}\nexpect:\n  - {mechanism: pcie_p2p}\n");
  EXPECT_THAT(error_of(text), AllOf(HasSubstr("s.yaml:8:5: error:"), HasSubstr("add 'transfer: ID'")));
}

TEST(ScenarioReader, ErrorsNameLineColumnAndReason) {
  EXPECT_THAT(error_of(with("expect:\n  - {transfer: b, mechanism: nvlink}\n")),
              AllOf(HasSubstr("s.yaml:7:16: error:"), HasSubstr("no transfer is called 'b'")));
  EXPECT_THAT(
      error_of(with("expect:\n  - {mechanism: pcie_p3p}\n")),
      AllOf(HasSubstr("s.yaml:7:17: error:"), HasSubstr("'pcie_p3p' is not a mechanism"), HasSubstr("pcie_p2p")));
  EXPECT_THAT(error_of(with("expect:\n  - {makespan: fast}\n")),
              AllOf(HasSubstr("s.yaml:7:16: error:"), HasSubstr("'fast' is not an expectation"),
                    Not(HasSubstr("expects nothing"))));
  EXPECT_THAT(error_of(with("expect:\n  - {time: 1 s}\n")),
              AllOf(HasSubstr("unknown key 'time'"), Not(HasSubstr("expects nothing"))));
  EXPECT_THAT(error_of(with("expect:\n  - {refuses: {nvlink: NVLINK-NON}}\n")),
              AllOf(HasSubstr("s.yaml:7:"), HasSubstr("no rule is called 'NVLINK-NON'"), HasSubstr("NVLINK-NONE")));
  EXPECT_THAT(error_of(with("expect:\n  - {refuses: nvlink}\n")),
              AllOf(HasSubstr("s.yaml:7:15: error:"), HasSubstr("expected one pair")));
  EXPECT_THAT(error_of(with("expect:\n  - {makespan: '<= 2 x of'}\n")),
              AllOf(HasSubstr("s.yaml:7:16: error:"), HasSubstr("no variant is called 'of'")));
  EXPECT_THAT(error_of(with("expect:\n  - {variant: fast, makespan: <= 1 s}\n")),
              AllOf(HasSubstr("s.yaml:7:15: error:"), HasSubstr("no variant is called 'fast'")));
  EXPECT_THAT(error_of(with("expect:\n  - {machine: n, makespan: <= 1 s}\n")),
              AllOf(HasSubstr("s.yaml:7:15: error:"), HasSubstr("'n'")));
  EXPECT_THAT(error_of(with("expect:\n  - {transfer: a}\n")),
              AllOf(HasSubstr("s.yaml:7:5: error:"), HasSubstr("expects nothing")));
  EXPECT_THAT(error_of(with("settings: [acs]\n")), HasSubstr("s.yaml:6:11: error:"));
  EXPECT_THAT(error_of(with("varants: []\n")), AllOf(HasSubstr("s.yaml:6:1: error:"), HasSubstr("variants")));
}

TEST(ScenarioReader, TransfersAreChecked) {
  EXPECT_THAT(error_of(with("  - {id: a, from: gpu1, to: gpu0, bytes: 1 MiB}\n")),
              AllOf(HasSubstr("s.yaml:6:10: error:"), HasSubstr("'a' is already there")));
  EXPECT_THAT(error_of(with("  - {id: b, from: gpu1, to: gpu0, bytes: 1}\n")), HasSubstr("s.yaml:6:42: error:"));
  EXPECT_THAT(error_of(with("  - {id: b, from: gpu1, to: gpu0}\n")),
              AllOf(HasSubstr("s.yaml:6:5: error:"), HasSubstr("bytes")));
  EXPECT_THAT(error_of(with("  - {id: b, from: gpu1, to: gpu0, bytes: 1 B, op: move}\n")),
              AllOf(HasSubstr("s.yaml:6:"), HasSubstr("move")));
  EXPECT_THAT(error_of(with("  - {id: b, from: gpu1, to: gpu0, bytes: 1 B, after: [c]}\n")),
              AllOf(HasSubstr("s.yaml:4:1: error:"), HasSubstr("'b' comes after 'c', which is not there")));
  EXPECT_THAT(error_of(with("  - {id: b, from: gpu1, to: gpu0, bytes: 1 B, after: [b]}\n")),
              HasSubstr("must stand before it"));
  EXPECT_THAT(error_of(with("  - {id: b, from: gpu1, to: gpu1, bytes: 8 B, op: atomic}\n")),
              HasSubstr("an atomic needs two places"));
  EXPECT_THAT(error_of("lanewise: scenario/1\nscenario: s\ntransfers: []\n"),
              AllOf(HasSubstr("s.yaml:3:1: error:"), HasSubstr("at least one transfer")));
}

TEST(ScenarioReader, ReadsACollectiveInsteadOfTransfers) {
  auto const scenario = read_scenario(SourceText::from_memory(
      "s.yaml",
      "lanewise: scenario/1\nscenario: s\n"
      "collective: {op: broadcast, among: [gpu0..gpu2, gpu5], bytes: 1 MiB, algorithm: tree, root: gpu5}\n"));
  ASSERT_TRUE(scenario.collective);
  EXPECT_EQ(scenario.collective->op, CollectiveOp::Broadcast);
  EXPECT_EQ(scenario.collective->among, (std::vector<std::string>{"gpu0", "gpu1", "gpu2", "gpu5"}));
  EXPECT_EQ(scenario.collective->algorithm, Algorithm::Tree);
  EXPECT_EQ(scenario.collective->root, "gpu5");
}

TEST(ScenarioReader, RefusesWrongCollectives) {
  std::string const head = "lanewise: scenario/1\nscenario: s\n";
  EXPECT_THAT(error_of(head), HasSubstr("at least one transfer, collective or compute"));
  EXPECT_THAT(error_of(head + "collective: {op: all_reduce, among: [gpu0], bytes: 1 B}\n"),
              AllOf(HasSubstr("s.yaml:3:"), HasSubstr("at least two participants")));
  EXPECT_THAT(error_of(head + "collective: {op: broadcast, among: [gpu0, gpu1], bytes: 1 B, root: gpu2}\n"),
              HasSubstr("'gpu2' does not take part"));
  EXPECT_THAT(error_of(head + "collective: {op: allreduce, among: [gpu0, gpu1], bytes: 1 B}\n"),
              HasSubstr("all_reduce"));
  EXPECT_THAT(error_of(head + "collective: {op: all_reduce, among: [gpu0, gpu1], bytes: 1 B}\n"
                              "transfers:\n  - {id: a, from: gpu0, to: gpu1, bytes: 4 B}\n"),
              HasSubstr("'collective' stands alone"));
  EXPECT_THAT(error_of(head + "objective: slow\ntransfers:\n  - {id: a, from: gpu0, to: gpu1, bytes: 4 B}\n"),
              HasSubstr("slowdown"));
}

TEST(ScenarioReader, VariantsHaveNamesOfTheirOwn) {
  EXPECT_THAT(error_of(with("variants:\n  - {name: v}\n  - {name: v}\n")),
              AllOf(HasSubstr("s.yaml:8:12: error:"), HasSubstr("'v' is already there")));
  EXPECT_THAT(error_of(with("variants:\n  - {settings: {}}\n  - {settings: {}}\n")),
              AllOf(HasSubstr("s.yaml:7:5: error:"), HasSubstr("s.yaml:8:5: error:"), HasSubstr("'name' is missing")));
}

TEST(ScenarioReader, EveryProblemIsReportedAtOnce) {
  auto const errors = error_of(with("expect:\n  - {transfer: b, latency: <= 1 s}\n  - {mechanism: no}\n"));
  EXPECT_THAT(errors, AllOf(HasSubstr("s.yaml:7:"), HasSubstr("s.yaml:8:")));
}

TEST(ScenarioReader, AnotherKindOfFileIsRefused) {
  EXPECT_THAT(error_of("lanewise: machine/1\nmachine: m\n"), AllOf(HasSubstr("s.yaml:1:"), HasSubstr("scenario/1")));
  EXPECT_NE(error_of("- a\n- b\n"), "no error");
  EXPECT_NE(error_of(""), "no error");
}

TEST(ScenarioReader, RequestsNameTheTransferWhosePlaceIsNotThere) {
  Machine machine;
  machine.name = "empty";
  machine.hosts.emplace_back();
  try {
    requests_of(read(kStart), machine);
    FAIL();
  } catch (InputError const& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("s.yaml:5:5: error:"), HasSubstr("transfer 'a' of 's'"), HasSubstr("gpu0")));
  }
}

std::string const kMachine = "lanewise: scenario/1\nscenario: s\nmachines: [m]\n";  // 3 lines

TEST(ScenarioReader, ReadsComputingAndCollectives) {
  auto const s = read(kMachine + R"(compute:
  - {id: forward, on: [gpu0..gpu1], time: 2 ms}
  - {id: backward, on: [gpu0, gpu1], flop: 3 TFLOP, precision: fp16, bytes: 1 GiB, after: [forward]}
collectives:
  - {id: sum, op: all_reduce, among: [gpu0..gpu1], bytes: 1 MiB, after: [backward]}
  - {id: parts, op: all_to_all_v, among: [gpu0, gpu1], sizes: [[0 B, 4 MiB], [1 MiB, 2 MiB]]}
  - {id: down, op: chain, among: [gpu0, gpu1], bytes: 1 MiB, pieces: 4}
)");
  EXPECT_THAT(
      s.compute,
      ElementsAre(
          ComputeSpec{"forward", {"gpu0", "gpu1"}, Seconds(2e-3), Flop(0), Precision::Fp32, Bytes(0), {}},
          ComputeSpec{"backward", {"gpu0", "gpu1"}, Seconds(0), Flop(3e12), Precision::Fp16, 1_GiB, {"forward"}}));
  ASSERT_EQ(s.collectives.size(), 3U);
  EXPECT_THAT(s.collectives[0].after, ElementsAre("backward"));
  EXPECT_THAT(s.collectives[1].sizes, ElementsAre(ElementsAre(0_B, 4_MiB), ElementsAre(1_MiB, 2_MiB)));
  EXPECT_EQ(s.collectives[1].bytes, 4_MiB);
  EXPECT_EQ(s.collectives[2].pieces, 4U);
  EXPECT_THAT(order_of(s), ElementsAre(1, 2, 3, 4, 0));  // collectives before computing, but for the one that waits
}

// Its time can be expected, also as a ratio to a transfer's; it has no one way.
TEST(ScenarioReader, ExpectsOfACollectiveWhatItHas) {
  auto const text =
      with("collectives:\n  - {id: all, op: all_reduce, among: [gpu0, gpu1], bytes: 1 MiB, after: [a]}\nexpect:\n  - ");
  auto const found = read(text + "{collective: all, latency: \"= 2 x a\", bandwidth: \">= 1 GB/s\"}\n").expectations;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].collective, "all");
  EXPECT_EQ(found[0].transfer, "");
  EXPECT_EQ(found[0].latency->relative_to, "a");
  EXPECT_EQ(read(text + "{transfer: a, latency: \"<= 1 x all\"}\n").expectations[0].latency->relative_to, "all");
  EXPECT_THAT(error_of(text + "{collective: al, latency: < 1 s}\n"),
              AllOf(HasSubstr("s.yaml:9:18: error:"), HasSubstr("no collective is called 'al'; did you mean 'all'")));
  EXPECT_THAT(error_of(text + "{collective: all}\n"), HasSubstr("expects nothing"));
  EXPECT_THAT(error_of(text + "{transfer: a, regret: \"<= 1 x all\"}\n"), HasSubstr("called 'all'"));
  for (auto const* what : {"mechanism: nvlink", "makespan: <= 1 s", "regret: <= 1 %", "transfer: a, latency: <= 1 s"})
    EXPECT_THAT(error_of(text + "{collective: all, " + what + "}\n"),
                HasSubstr("of a collective latency and bandwidth can be expected"))
        << what;
}

TEST(ScenarioReader, RefusesWorkThatMakesNoSense) {
  EXPECT_THAT(error_of(kMachine + "compute:\n  - {id: a, on: [gpu0], time: 1 ms, flop: 1 GFLOP}\n"),
              AllOf(HasSubstr("s.yaml:5"), HasSubstr("either a 'time'")));
  EXPECT_THAT(error_of(kMachine + "compute:\n  - {id: a, on: [gpu0]}\n"), HasSubstr("either a 'time'"));
  EXPECT_THAT(error_of(kMachine + "compute:\n  - {id: a, on: [gpu0, gpu0], time: 1 ms}\n"), HasSubstr("twice"));
  EXPECT_THAT(error_of(kMachine + "compute:\n  - {id: a, on: [], time: 1 ms}\n"),
              AllOf(HasSubstr("s.yaml:5"), HasSubstr("the list is empty")));
  EXPECT_THAT(error_of(kMachine + "compute:\n  - {id: a, on: [gpu0], time: 1e308 s}\n"),
              HasSubstr("at most 1000000000 s"));
  EXPECT_THAT(error_of("lanewise: scenario/1\nscenario: ../x\n"),
              AllOf(HasSubstr("s.yaml:2"), HasSubstr("not a name")));
  EXPECT_THAT(error_of(kMachine + "compute:\n  - {id: a, on: [gpu0], time: 1 ms, after: [b]}\n"),
              HasSubstr("'b', which is not there"));
  EXPECT_THAT(error_of(kMachine + "compute:\n  - {id: a, on: [gpu0], time: 1 ms, after: [sum]}\ncollectives:\n"
                                  "  - {id: sum, op: all_reduce, among: [gpu0, gpu1], bytes: 1 MiB, after: [a]}\n"),
              HasSubstr("in a circle"));
  EXPECT_THAT(error_of(kMachine + "collectives:\n  - {id: p, op: all_to_all_v, among: [gpu0, gpu1], bytes: 1 MiB}\n"),
              HasSubstr("'sizes'"));
  EXPECT_THAT(error_of(kMachine + "collectives:\n  - {id: p, op: all_to_all_v, among: [gpu0, gpu1], sizes: [[1 B]]}\n"),
              AllOf(HasSubstr("1 sizes in a row"), HasSubstr("1 rows")));
  EXPECT_THAT(
      error_of(kMachine + "collectives:\n  - {id: p, op: broadcast, among: [gpu0, gpu1], bytes: 1 B, pieces: 2}\n"),
      HasSubstr("belongs to the op chain"));
  EXPECT_THAT(error_of(with("collective: {op: all_reduce, among: [gpu0, gpu1], bytes: 1 MiB}\n")),
              HasSubstr("under 'collectives'"));
  EXPECT_THAT(error_of(with("compute:\n  - {id: a, on: [gpu0], time: 1 ms}\n")), HasSubstr("'a' is already there"));
}

}  // namespace
}  // namespace lanewise
