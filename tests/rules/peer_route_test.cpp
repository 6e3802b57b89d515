#include "core/rules/peer_route.hpp"

#include <gtest/gtest.h>

#include "tests/rules/acs_controls.hpp"
#include "tests/rules/rule_machine.hpp"

namespace lanewise {
namespace {

using test::pci;
using test::rule_machine;

using namespace test::acs_controls;

AcsControl bits(int value) { return {true, static_cast<std::uint16_t>(value)}; }

struct RequestRow {
  int bits;
  AcsEffect untranslated, translated;
};

TEST(AcsOnRequest, FollowsTheTruthTable) {
  auto const D = AcsEffect::Direct;
  auto const R = AcsEffect::Redirect;
  auto const B = AcsEffect::Blocked;
  RequestRow const rows[]{
      {0, D, D},
      {SV, D, D},
      {UF, D, D},
      {CR, D, D},
      {DT, D, D},
      {TB, D, B},
      {TB | DT, D, B},
      {TB | RR, R, B},
      {TB | RR | DT, R, B},
      {RR, R, R},
      {RR | DT, R, D},
      {EC, R, R},
      {EC | DT, R, D},
      {EC | RR, R, R},
      {EC | RR | DT, R, D},
      {SV | RR | CR | UF, R, R},
      {SV | RR | CR | UF | DT, R, D},
      {TB | EC, R, B},
  };
  for (auto const& row : rows) {
    SCOPED_TRACE(to_string(bits(row.bits)));
    EXPECT_EQ(acs_on_request(bits(row.bits), false), row.untranslated);
    EXPECT_EQ(acs_on_request(bits(row.bits), true), row.translated);
  }
}

// All 128 values, as the rows of the table say it: first match wins.
TEST(AcsOnRequest, EveryValueHasTheEffectOfTheFirstRowThatMatches) {
  for (int value = 0; value < 128; ++value) {
    SCOPED_TRACE(value);
    bool const redirects = (value & (RR | EC)) != 0;
    EXPECT_EQ(acs_on_request(bits(value), false), redirects ? AcsEffect::Redirect : AcsEffect::Direct);
    auto const translated = (value & TB) != 0   ? AcsEffect::Blocked
                            : (value & DT) != 0 ? AcsEffect::Direct
                            : redirects         ? AcsEffect::Redirect
                                                : AcsEffect::Direct;
    EXPECT_EQ(acs_on_request(bits(value), true), translated);
  }
}

TEST(AcsOnRequest, UnknownControlIsPlannedAsRedirected) {
  EXPECT_EQ(acs_on_request(AcsControl::unknown(), false), AcsEffect::Redirect);
  EXPECT_EQ(acs_on_request(AcsControl::unknown(), true), AcsEffect::Redirect);
}

TEST(AcsOnCompletion, OnlyCompletionRedirectCounts) {
  for (int value = 0; value < 128; ++value) {
    SCOPED_TRACE(value);
    EXPECT_EQ(acs_on_completion(bits(value), false), (value & CR) != 0 ? AcsEffect::Redirect : AcsEffect::Direct);
    EXPECT_EQ(acs_on_completion(bits(value), true), AcsEffect::Direct);
  }
  EXPECT_EQ(acs_on_completion(AcsControl::unknown(), false), AcsEffect::Redirect);
}

PeerRoute route(Machine const& machine, std::string const& from, std::string const& to) {
  return peer_route(machine, pci(machine, from), pci(machine, to));
}

TEST(PeerRoute, BelowOneSwitchTurnsThere) {
  auto const machine = rule_machine();
  auto const found = route(machine, "gpu0", "gpu1");
  EXPECT_EQ(found.request, TurnPoint::Switch);
  EXPECT_EQ(found.completion, TurnPoint::Switch);
  EXPECT_EQ(found.meeting, pci(machine, "sw0"));
  EXPECT_EQ(found.deciding, pci(machine, "gpu0"));
  EXPECT_TRUE(found.same_host_bridge);
  EXPECT_TRUE(found.same_socket);
  EXPECT_FALSE(found.blocked || found.redirected(false) || found.redirected(true));
}

TEST(PeerRoute, OfNestedSwitchesTheNearestCommonOneTurns) {
  auto const machine = rule_machine();
  EXPECT_EQ(route(machine, "gpu5", "gpu6").meeting, pci(machine, "sw0a"));
  auto const up = route(machine, "gpu5", "gpu0");
  EXPECT_EQ(up.meeting, pci(machine, "sw0"));
  EXPECT_EQ(up.deciding, pci(machine, "sw0a"));  // the port above the inner switch decides
}

TEST(PeerRoute, OnlyThePortWhereTheWaysPartRedirectsRequests) {
  auto machine = rule_machine();
  machine.functions[index(pci(machine, "gpu5"))].acs = bits(RR);
  EXPECT_EQ(route(machine, "gpu5", "gpu0").request, TurnPoint::Switch);  // to the inner switch it is no peer request
  EXPECT_EQ(route(machine, "gpu5", "gpu6").request, TurnPoint::RootComplex);
  machine.functions[index(pci(machine, "sw0a"))].acs = bits(RR);
  EXPECT_EQ(route(machine, "gpu5", "gpu0").request, TurnPoint::RootComplex);
  EXPECT_EQ(route(machine, "gpu0", "gpu5").request, TurnPoint::Switch);  // that is gpu0's port
}

TEST(PeerRoute, RequestRedirectTurnsWritesAtTheRootComplex) {
  auto machine = rule_machine();
  machine.functions[index(pci(machine, "gpu0"))].acs = bits(RR);
  auto const found = route(machine, "gpu0", "gpu1");
  EXPECT_EQ(found.data(false), TurnPoint::RootComplex);
  EXPECT_EQ(found.data(true), TurnPoint::Switch);  // read data are completions
  EXPECT_TRUE(found.through_root_complex(false));
  EXPECT_TRUE(found.through_root_complex(true));
  EXPECT_TRUE(found.redirected(false));
  EXPECT_TRUE(found.redirected(true));
}

TEST(PeerRoute, CompletionRedirectConcernsReadsOnly) {
  auto machine = rule_machine();
  machine.functions[index(pci(machine, "gpu1"))].acs = bits(CR);
  auto const found = route(machine, "gpu0", "gpu1");
  EXPECT_EQ(found.data(false), TurnPoint::Switch);
  EXPECT_EQ(found.data(true), TurnPoint::RootComplex);
  EXPECT_FALSE(found.through_root_complex(false));
  EXPECT_TRUE(found.through_root_complex(true));
  EXPECT_FALSE(found.redirected(false));
  EXPECT_TRUE(found.redirected(true));
  EXPECT_FALSE(route(machine, "gpu1", "gpu0").redirected(true));  // gpu0's port sends those completions
}

TEST(PeerRoute, TranslatedRequestsPassRedirectWhereDirectTranslatedIsOn) {
  auto machine = rule_machine();
  auto& settings = machine.hosts.front().settings;
  settings.acs = bits(RR | DT);
  settings.iommu = IommuMode::Vfio;
  EXPECT_EQ(route(machine, "gpu0", "gpu1").request, TurnPoint::RootComplex);  // no address translation services
  settings.virtualization.ats = true;
  EXPECT_EQ(route(machine, "gpu0", "gpu1").request, TurnPoint::Switch);
  settings.iommu = IommuMode::Passthrough;  // nothing to translate
  EXPECT_EQ(route(machine, "gpu0", "gpu1").request, TurnPoint::RootComplex);
}

TEST(PeerRoute, TranslationBlockingBlocksAtEveryPortOnTheWayUp) {
  auto machine = rule_machine();
  auto& settings = machine.hosts.front().settings;
  settings.iommu = IommuMode::Vfio;
  settings.virtualization.ats = true;
  machine.functions[index(pci(machine, "gpu5"))].acs = bits(TB);
  EXPECT_TRUE(route(machine, "gpu5", "gpu6").blocked);
  EXPECT_TRUE(route(machine, "gpu5", "gpu0").blocked);
  EXPECT_FALSE(route(machine, "gpu0", "gpu5").blocked);
  EXPECT_TRUE(route(machine, "gpu5", "gpu2").blocked);  // on the way to the root complex too
  settings.virtualization.ats = false;
  EXPECT_FALSE(route(machine, "gpu5", "gpu0").blocked);
}

TEST(PeerRoute, UnknownControlIsRedirectedAndSaysSo) {
  auto machine = rule_machine();
  machine.functions[index(pci(machine, "gpu0"))].acs = AcsControl::unknown();
  auto const asked = route(machine, "gpu0", "gpu1");
  EXPECT_EQ(asked.request, TurnPoint::RootComplex);
  EXPECT_TRUE(asked.acs_unknown(false));
  EXPECT_TRUE(asked.acs_unknown(true));
  auto const answering = route(machine, "gpu1", "gpu0");  // gpu0's port sees the completions of reads
  EXPECT_FALSE(answering.acs_unknown(false));
  EXPECT_TRUE(answering.acs_unknown(true));
  EXPECT_EQ(answering.completion, TurnPoint::RootComplex);
}

TEST(PeerRoute, WithoutACommonSwitchTheRootComplexTurns) {
  auto const machine = rule_machine();
  auto const near = route(machine, "gpu0", "gpu2");
  EXPECT_EQ(near.request, TurnPoint::RootComplex);
  EXPECT_FALSE(near.meeting);
  EXPECT_FALSE(near.same_host_bridge);
  EXPECT_TRUE(near.same_socket);
  EXPECT_FALSE(near.redirected(false));  // nothing was sent astray
  EXPECT_FALSE(route(machine, "gpu0", "gpu4").same_socket);
}

TEST(PeerRoute, VirtualSwitchesOfOneChipTurnInItsFabricWhateverAcsSays) {
  auto machine = rule_machine();
  machine.hosts.front().settings.acs = AcsControl::on();
  for (auto const* name : {"sw0", "sw1"}) machine.functions[index(pci(machine, name))].chip = "chip0";
  EXPECT_EQ(route(machine, "gpu0", "gpu2").request, TurnPoint::RootComplex);  // this chip has no such fabric
  test::part(machine, "sw").pcie_switch.virtual_switch_fabric = BytesPerSecond(40e9);
  auto const found = route(machine, "gpu0", "gpu2");
  EXPECT_EQ(found.request, TurnPoint::Chip);
  EXPECT_EQ(found.completion, TurnPoint::Chip);
  EXPECT_EQ(found.meeting, pci(machine, "sw0"));
  EXPECT_FALSE(found.redirected(true));
  EXPECT_EQ(route(machine, "gpu5", "gpu2").meeting, pci(machine, "sw0"));     // from below a nested switch
  EXPECT_EQ(route(machine, "gpu0", "gpu4").request, TurnPoint::RootComplex);  // another chip
}

// Two leaves on one chip below a root switch: packets cross in the chip and never see the root switch.
TEST(PeerRoute, VirtualSwitchesOfOneChipMeetThereAlsoBelowAnotherSwitch) {
  auto const machine = test::machine_from(R"(
lanewise: machine/1
machine: m
settings: {acs: on}
parts:
  cpu: {kind: cpu, peer_write_forwarding: any}
  gpu: {kind: gpu, link: gen4 x16}
  sw: {kind: switch, link: gen4 x16, virtual_switch_fabric: 60 GB/s}
sockets:
  - socket: cpu0
    part: cpu
    pcie:
      - root_port: rp0
        switch: root
        part: sw
        ports:
          - {switch: leaf0, part: sw, chip: one, ports: [{gpu: gpu0, part: gpu}]}
          - {switch: leaf1, part: sw, chip: one, ports: [{gpu: gpu1, part: gpu}]}
          - {switch: leaf2, part: sw, chip: two, ports: [{gpu: gpu2, part: gpu}]}
)");
  auto const route = peer_route(machine, test::pci(machine, "gpu0"), test::pci(machine, "gpu1"));
  EXPECT_EQ(route.request, TurnPoint::Chip);
  EXPECT_EQ(route.meeting, test::pci(machine, "leaf0"));
  EXPECT_EQ(route.far, test::pci(machine, "leaf1"));
  EXPECT_EQ(peer_route(machine, test::pci(machine, "gpu0"), test::pci(machine, "gpu2")).request,
            TurnPoint::RootComplex);  // ACS is on
}

TEST(PeerRoute, RelaxedOrderedReadsComeBackStraight) {
  auto machine = test::machine_from(R"(
lanewise: machine/1
machine: m
settings: {acs: [CR]}
parts: {cpu: {kind: cpu}, gpu: {kind: gpu, link: gen4 x16}, sw: {kind: switch, link: gen4 x16}}
sockets:
  - {socket: cpu0, part: cpu, pcie: [{root_port: rp0, switch: sw0, part: sw, ports: [{gpu: gpu0, part: gpu}, {gpu: gpu1, part: gpu}]}]}
)");
  auto const turn = [&] {
    return peer_route(machine, test::pci(machine, "gpu0"), test::pci(machine, "gpu1")).completion;
  };
  EXPECT_EQ(turn(), TurnPoint::RootComplex);
  test::part(machine, "gpu").pcie.relaxed_ordering = true;
  EXPECT_EQ(turn(), TurnPoint::Switch);
}

}  // namespace
}  // namespace lanewise
