#include "core/explain/whatif.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/view/whatif_text.hpp"
#include "lanewise/machine/setting.hpp"
#include "tests/support/machines.hpp"

namespace lanewise::test {
namespace {

using namespace literals;

Machine two_switches() {
  return machine_from(R"(
lanewise: machine/1
machine: m
settings: {acs: off, iommu: pt}
parts:
  cpu: {kind: cpu, host_bridges: per_root_port, root_port_generation: 4, memory_bandwidth: 200 GB/s, peer_write_forwarding: any, peer_read_forwarding: any}
  gpu: {kind: gpu, vendor: nvidia, chip: ga100, link: gen4 x16, copy_engines: 2, memory_bandwidth: 1500 GB/s, bar1: 128 GiB}
  sw: {kind: switch, link: gen4 x16}
sockets:
  - socket: cpu0
    part: cpu
    pcie:
      - {root_port: rp0, link: gen4 x16, switch: sw0, part: sw, ports: [{gpu: gpu0, part: gpu}, {gpu: gpu1, part: gpu}]}
      - {root_port: rp1, link: gen4 x16, switch: sw1, part: sw, ports: [{gpu: gpu2, part: gpu}]}
)");
}

struct Asked {
  Model before, after;
  WhatIfQuery question{{"gpu0", "gpu1", "gpu2"}, 256_MiB, 16_B, Op::Copy};
};
Asked changed_by(std::string const& setting) {
  Catalogue catalogue({});
  auto changed = two_switches();
  apply_setting(changed, parse_setting(setting), catalogue);
  return {Model(two_switches()), Model(std::move(changed))};
}

WhatIf asked(std::string const& setting) {
  auto const [before, after, question] = changed_by(setting);
  return what_if(before, after, question, nullptr, nullptr);
}

// One flow keeps its rate when it is redirected, but its way is longer: only the two pairs below one switch change.
TEST(WhatIf, RedirectionLengthensPairsBelowOneSwitch) {
  auto const found = asked("acs=on");
  EXPECT_EQ(found.pairs, 6U);
  ASSERT_EQ(found.changes.size(), 1U);
  auto const& change = found.changes[0];
  EXPECT_EQ(change.figure, WhatIfFigure::Latency);
  EXPECT_EQ(change.more, 1);
  EXPECT_EQ(change.because, "P2P-ACS-REDIRECT");
  EXPECT_NEAR(*change.after - *change.before, 370e-9 + 105e-9, 1e-12);
}

TEST(WhatIf, WhatIsRefusedNamesTheRuleAndTheNewWay) {
  auto const found = asked("iommu=lazy");
  ASSERT_FALSE(found.changes.empty());
  for (auto const& change : found.changes) {
    EXPECT_EQ(change.way_before, "pcie_p2p");
    EXPECT_EQ(change.way_after, "host_staged");
    EXPECT_EQ(change.because, "P2P-IOMMU-TRANSLATED refuses pcie_p2p");
  }
  EXPECT_GT(*found.changes.front().ratio(), 5);  // small copies are hurt most
}

TEST(WhatIf, ANarrowLinkIsWhatBinds) {
  auto const found = asked("link@gpu2=gen3 x8");
  ASSERT_FALSE(found.changes.empty());
  auto const& worst = found.changes.front();
  EXPECT_EQ(worst.figure, WhatIfFigure::Bandwidth);
  EXPECT_NEAR(*worst.ratio(), 0.25, 0.001);
  EXPECT_THAT(worst.because, testing::HasSubstr("bound by gpu2.pcie"));
}

// Of GPUs the whole matrix is there, not only what changed.
TEST(WhatIf, HasTheMatrixOfGpusBeforeAndAfter) {
  auto const [before, after, question] = changed_by("acs=on");
  auto const json = whatif_json(asked("acs=on"), what_if_matrices(before, after, question), "m", {"acs=on"});
  auto const gpus = json["matrices"]["before"]["places"];
  EXPECT_EQ(gpus, json["matrices"]["after"]["places"]);
  EXPECT_EQ(json["matrices"]["after"]["cells"].size(), gpus.size() * gpus.size());
  EXPECT_NE(json["matrices"]["before"]["cells"], json["matrices"]["after"]["cells"]);
}

TEST(WhatIf, NothingChangesIsSaid) {
  auto const found = asked("software.gdrcopy=false");
  EXPECT_TRUE(found.changes.empty());
  EXPECT_THAT(whatif_text(found, "m", {"software.gdrcopy=false"}),
              testing::HasSubstr("Nothing changes for any of 6 pairs"));
  EXPECT_EQ(whatif_json(found, {}, "m", {})["changes"].size(), 0U);
}

}  // namespace
}  // namespace lanewise::test
