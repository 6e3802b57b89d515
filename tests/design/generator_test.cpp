#include "core/design/generator.hpp"

#include <gmock/gmock.h>

#include <set>

#include "core/design/comparison.hpp"
#include "core/view/design_text.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

CandidateGenerator generator_of(std::string const& keys) {
  auto const brief = read_design_brief(SourceText::from_memory(
      "b.yaml",
      "lanewise: design/1\ndesign: d\njobs: [{collective: all_reduce, bytes: 1 MiB}]\ncandidates:\n"
      "  - generate: {" +
          keys + "}\n"));
  return brief.generators.at(0);
}

constexpr char kServer[] = "gpu: [l40s], gpus: [8], cpu: [epyc-9575f], sockets: [2], switch: [pex89144]";

struct Generated {
  GeneratedSummary summary;
  std::vector<GeneratedMachine> machines;
  Catalogue catalogue = test::bundled();

  explicit Generated(std::string const& keys) : Generated(generator_of(keys)) {}
  explicit Generated(CandidateGenerator const& generator) {
    generate_machines(generator, catalogue, summary,
                      [&](GeneratedMachine made, Machine const&) { machines.push_back(std::move(made)); });
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (auto const& machine : machines) names.push_back(machine.name);
    return names;
  }
  Machine machine(std::size_t i) {
    return catalogue.machine_from(SourceText::from_memory("m.yaml", machines.at(i).source));
  }
};

TEST(Generator, NamesSayTheChoicesAndNothingElse) {
  Generated const one(std::string(kServer) + ", pcie: [flat], switches: [2]");
  EXPECT_THAT(one.names(), ElementsAre("l40s-x8_epyc-9575f-x2_flat-pex89144-x2"));
  Generated const more(std::string(kServer) + ", pcie: [direct, flat, dual_root, cascaded], switches: [1, 2, 4]");
  EXPECT_THAT(more.names(), Contains("l40s-x8_epyc-9575f-x2_flat-pex89144-x2"));
}

TEST(Generator, ShapesAreWhatTheirWordsSay) {
  Generated shapes(std::string(kServer) + ", pcie: [direct, flat, dual_root, cascaded], switches: [2]");
  EXPECT_THAT(shapes.names(),
              ElementsAre("l40s-x8_epyc-9575f-x2_direct", "l40s-x8_epyc-9575f-x2_flat-pex89144-x2",
                          "l40s-x8_epyc-9575f-x2_dual-root-pex89144-x2", "l40s-x8_epyc-9575f-x2_cascaded-pex89144-x2"));
  auto const sockets_of = [&](std::size_t i) {
    auto const machine = shapes.machine(i);
    std::set<std::size_t> sockets;
    for (auto const gpu : machine.all(PciKind::Gpu)) sockets.insert(index(machine.socket_of(gpu)));
    return sockets.size();
  };
  EXPECT_EQ(sockets_of(0), 2U);
  EXPECT_EQ(sockets_of(1), 1U);
  EXPECT_EQ(sockets_of(2), 2U);
  EXPECT_EQ(sockets_of(3), 1U);
  EXPECT_EQ(shapes.machine(2).all(PciKind::Switch).size(), 2U);
  EXPECT_EQ(shapes.machine(3).all(PciKind::Switch).size(), 3U);  // one above the others
}

// 8 GPUs of 16 lanes and an uplink are all 144 lanes of the switch; two NICs more do not fit.
TEST(Generator, BudgetsOfLanesExclude) {
  Generated const fits(std::string(kServer) + ", pcie: [flat], switches: [1]");
  EXPECT_EQ(fits.machines.size(), 1U);
  Generated const full(std::string(kServer) +
                       ", pcie: [flat], switches: [1], nic: [connectx-7-ndr], nics: [2], "
                       "nics_at: [switch, socket]");
  EXPECT_THAT(full.names(), ElementsAre("l40s-x8_epyc-9575f-x2_flat-pex89144-x1_connectx-7-ndr-x2-at-socket"));
  ASSERT_EQ(full.summary.excluded.size(), 1U);
  EXPECT_THAT(full.summary.excluded.begin()->first, HasSubstr("144 PCIe lanes (pex89144), and its links take 176"));
  EXPECT_EQ(full.summary.combinations, 2U);
}

TEST(Generator, RulesExclude) {
  Generated const one_socket(
      "gpu: [l40s], gpus: [4], cpu: [epyc-9575f], sockets: [1], switch: [pex89144], pcie: [dual_root], switches: [2]");
  EXPECT_EQ(one_socket.summary.excluded.count("dual_root needs two sockets and two switches"), 1U);
  Generated const no_nvlink("gpu: [l40s], gpus: [4], cpu: [epyc-9575f], gpu_links: [switch]");
  EXPECT_EQ(no_nvlink.summary.excluded.count("l40s has no NVLink"), 1U);
}

// One socket: dual_root is impossible, and flat with one switch is the only way.
TEST(Generator, TheSameMachineIsThereOnce) {
  auto generator = generator_of(std::string(kServer) + ", pcie: [flat], switches: [1]");
  generator.gpus = {8, 8};
  Generated const generated(generator);
  EXPECT_EQ(generated.machines.size(), 1U);
  EXPECT_EQ(generated.summary.equivalent, 1U);
  EXPECT_EQ(generated.summary.candidates, 1U);
}

TEST(Generator, LinksOfGpus) {
  Generated nvswitch("gpu: [h200-sxm5-141g], gpus: [8], cpu: [xeon-platinum-8480c], gpu_links: [switch]");
  ASSERT_EQ(nvswitch.machines.size(), 1U);
  EXPECT_EQ(nvswitch.machine(0).nvswitches.size(), 1U);
  Generated pairs("gpu: [h200-nvl-141g], gpus: [4], cpu: [epyc-9575f], gpu_links: [pairs, mesh]");
  ASSERT_EQ(pairs.machines.size(), 2U);
  EXPECT_EQ(pairs.machine(0).nvlinks.size(), 2U);
  EXPECT_EQ(pairs.machine(1).nvlinks.size(), 6U);
}

TEST(Generator, ClustersStayWithinTheRadix) {
  Generated clusters(
      "gpu: [h200-sxm5-141g], gpus: [8], gpu_links: [switch], cpu: [xeon-platinum-8480c], switch: [pex89144], "
      "pcie: [dual_root], switches: [4], nic: [connectx-7-ndr], nics_at: [switch], nodes: [16, 128], "
      "network_switch: [quantum-2-ndr], rails: [yes, no], tiers: [1, 2, 3], oversubscription: [1, 2]");
  // 128 servers are too many for one tier; 16 with 8 NICs each are too many for one switch, not for one a rail.
  auto const names = clusters.names();
  auto const server =
      "h200-sxm5-141g-x8-switch_xeon-platinum-8480c-x2_dual-root-pex89144-x4_connectx-7-ndr-x8-at-switch_";
  EXPECT_THAT(names, Contains(std::string(server) + "16-nodes_quantum-2-ndr-rails-1-tiers-1-to-1"));
  EXPECT_THAT(names, Contains(std::string(server) + "128-nodes_quantum-2-ndr-rails-2-tiers-2-to-1"));
  EXPECT_THAT(names, Contains(std::string(server) + "128-nodes_quantum-2-ndr-2-tiers-1-to-1"));
  EXPECT_THAT(names, Contains(std::string(server) + "128-nodes_quantum-2-ndr-rails-3-tiers-1-to-1"));
  EXPECT_THAT(names, testing::Not(Contains(std::string(server) + "128-nodes_quantum-2-ndr-rails-1-tiers-1-to-1")));
  EXPECT_THAT(names, testing::Not(Contains(std::string(server) + "16-nodes_quantum-2-ndr-1-tiers-1-to-1")));
  for (std::size_t i = 0; i < clusters.machines.size(); ++i) {
    auto const gpus = clusters.machine(i).all(PciKind::Gpu).size();
    EXPECT_TRUE(gpus == 128 || gpus == 1024) << names[i];
  }
}

// 100 nodes need 13 core switches and a part of them.
TEST(Generator, SizesNeedNotDivide) {
  Generated const clusters(
      "gpu: [h200-sxm5-141g], gpus: [8], gpu_links: [switch], cpu: [xeon-platinum-8480c], switch: [pex89144], "
      "pcie: [dual_root], switches: [4], nic: [connectx-7-ndr], nics_at: [switch], nodes: [100], "
      "network_switch: [quantum-2-ndr], tiers: [3]");
  EXPECT_EQ(clusters.machines.size(), 1U)
      << (clusters.summary.excluded.empty() ? "" : clusters.summary.excluded.begin()->first);
}

TEST(Generator, NodesOfDifferentLinksHaveDifferentNames) {
  std::string const mesh = "gpu: [amd-mi300x], gpus: [4], gpu_links: [mesh], cpu: [epyc-9654], gpu_link_part: ";
  EXPECT_NE(Generated(mesh + "xgmi-gpu-mi300x").names(), Generated(mesh + "xgmi-gpu-mi50").names());
}

// The same server twice: as it could be built, and as somebody sells it, drawing too much.
TEST(Generator, WhatBreaksALimitBeatsNothingThatKeepsIt) {
  std::string const keys = "gpu: [l40s], gpus: [4], cpu: [epyc-9575f]";
  Generated const generated(keys);
  test::TemporaryFolder const folder;
  auto const sold = folder.with("sold.yaml", generated.machines.at(0).source);
  auto catalogue = test::bundled();
  auto const compare = [&](std::string const& power) {
    ResultStore store;
    auto const brief = read_design_brief(SourceText::from_memory(
        "b.yaml",
        "lanewise: design/1\ndesign: d\njobs: [{collective: all_reduce, bytes: 64 MiB}]\nlimits: {power: \"<= 6 kW\"}\n"
        "candidates:\n  - {machine: " +
            sold.string() + ", power: " + power + "}\n  - generate: {" + keys + "}\n"));
    auto const all = compare_candidates(brief, {.catalogue = catalogue, .store = store});
    return all.candidates.at(1).beaten_by + all.candidates.at(0).beaten_by;
  };
  EXPECT_EQ(compare("20 kW"), "");
  EXPECT_EQ(compare("1 kW"), "sold");
}

TEST(Generator, BadChoicesAreNamed) {
  auto const error = [](std::string const& keys) { return test::input_error([&] { Generated{keys}; }); };
  EXPECT_THAT(error("gpu: [l40], gpus: [8], cpu: [epyc-9575f]"), HasSubstr("did you mean 'l4'"));
  EXPECT_THAT(error("gpu: [epyc-9575f], gpus: [8], cpu: [epyc-9575f]"), HasSubstr("is a cpu, and a gpu is wanted"));
  EXPECT_THAT(error("gpu: [h200-sxm5-141g], gpus: [8], cpu: [epyc-9575f]"), HasSubstr("say 'gpu_links'"));
  EXPECT_THAT(error("gpu: [l40s], gpus: [0], cpu: [epyc-9575f]"), HasSubstr("'0' is no whole number from 1 to 64"));
  EXPECT_THAT(error("gpu: [l40s], gpus: [8], cpu: [epyc-9575f], pcie: [dualroot]"),
              HasSubstr("did you mean 'dual_root'"));
  EXPECT_THAT(error("gpu: [l40s], gpus: [8], cpu: [epyc-9575f], pcie: [flat]"), HasSubstr("'switch' is missing"));
  EXPECT_THAT(error("gpu: [l40s], gpus: [8], cpu: [epyc-9575f], nodes: [4]"), HasSubstr("'network_switch' is missing"));
}

TEST(Generator, ABriefWithoutALegalCandidateSaysWhatExcludesEach) {
  auto catalogue = test::bundled();
  ResultStore store;
  auto const brief = read_design_brief(SourceText::from_memory(
      "b.yaml",
      "lanewise: design/1\ndesign: d\njobs: [{collective: all_reduce, bytes: 1 MiB}]\ncandidates:\n"
      "  - generate: {gpu: [l40s], gpus: [16], cpu: [epyc-9575f], sockets: [1], pcie: [direct, flat], "
      "switch: [pex89144], switches: [1]}\n"));
  auto const text = test::input_error([&] { compare_candidates(brief, {.catalogue = catalogue, .store = store}); });
  EXPECT_THAT(text, HasSubstr("b.yaml:5"));
  EXPECT_THAT(text, HasSubstr("of 2 combinations"));
  EXPECT_THAT(text, HasSubstr("cpu0 has 128 PCIe lanes"));
  EXPECT_THAT(text, HasSubstr("sw0 has 144 PCIe lanes"));
}

// NICs that no job uses make a candidate dearer and not faster; one with other GPUs stays.
TEST(Generator, WhatIsBeatenIsLeftOut) {
  auto catalogue = test::bundled();
  ResultStore store;
  std::string text =
      "lanewise: design/1\ndesign: d\njobs: [{collective: all_reduce, bytes: 64 MiB}]\ncandidates:\n"
      "  - generate: {gpu: [l40s, rtx-pro-6000-blackwell-server], gpus: [4], cpu: [epyc-9575f, "
      "xeon-platinum-8592plus], "
      "sockets: [1, 2], switch: [pex89144], switches: [1, 2, 4], nic: [connectx-7-ndr], nics: [0, 2, 4]}\n";
  auto const all = compare_candidates(read_design_brief(SourceText::from_memory("b.yaml", text)),
                                      {.catalogue = catalogue, .store = store});
  for (auto const& candidate : all.candidates)
    if (candidate.is_final) {
      EXPECT_THAT(candidate.candidate.name, testing::Not(HasSubstr("connectx"))) << candidate.beaten_by;
    }
  EXPECT_THAT(design_text(all), HasSubstr("are faster in no job"));
}

}  // namespace
}  // namespace lanewise
