#include "core/rules/peer_route.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/server.hpp"

namespace lanewise {
namespace {

// ---------------------------------------------------------------------------------------------- the truth table of ACS

constexpr auto kTb = AcsControl::kTranslationBlocking;
constexpr auto kRr = AcsControl::kRequestRedirect;
constexpr auto kCr = AcsControl::kCompletionRedirect;
constexpr auto kEc = AcsControl::kEgressControl;
constexpr auto kDt = AcsControl::kDirectTranslated;

struct Row {
  char const* what;
  int tb, rr, ec, dt, translated;  // 0, 1, or -1: either
  AcsEffect effect;
};

// Top to bottom, the first row that fits decides (PCI Express Base Specification 6.12.3). The egress vector is not
// described, so EC without RR redirects, as the kernel's own test of p2pdma has it.
constexpr std::array kRequests{Row{"TB blocks what is translated", 1, -1, -1, -1, 1, AcsEffect::Blocked},
                               Row{"DT lets what is translated pass", -1, -1, -1, 1, 1, AcsEffect::Direct},
                               Row{"RR redirects what is not translated", -1, 1, -1, -1, 0, AcsEffect::Redirect},
                               Row{"RR without DT redirects what is", -1, 1, -1, 0, 1, AcsEffect::Redirect},
                               Row{"EC without its vector redirects", -1, 0, 1, -1, -1, AcsEffect::Redirect},
                               Row{"otherwise direct", -1, -1, -1, -1, -1, AcsEffect::Direct}};

bool fits(int wanted, bool set) { return wanted < 0 || (wanted == 1) == set; }

TEST(AcsOnRequest, FollowsTheTruthTableBitByBit) {
  for (int bits = 0; bits < 0x80; ++bits) {
    for (bool const translated : {false, true}) {
      AcsControl const control{true, static_cast<std::uint16_t>(bits)};
      auto const* const row = std::find_if(kRequests.begin(), kRequests.end(), [&](Row const& r) {
        return fits(r.tb, control.has(kTb)) && fits(r.rr, control.has(kRr)) && fits(r.ec, control.has(kEc)) && fits(r.dt, control.has(kDt)) &&
               fits(r.translated, translated);
      });
      EXPECT_EQ(acs_on_request(control, translated), row->effect) << row->what << ": " << to_string(control) << (translated ? ", translated" : "");
    }
  }
}

TEST(AcsOnCompletion, OnlyCrRedirectsAndNeverWhatIsRelaxed) {
  for (int bits = 0; bits < 0x80; ++bits) {
    AcsControl const control{true, static_cast<std::uint16_t>(bits)};
    EXPECT_EQ(acs_on_completion(control, false), control.has(kCr) ? AcsEffect::Redirect : AcsEffect::Direct) << to_string(control);
    EXPECT_EQ(acs_on_completion(control, true), AcsEffect::Direct) << to_string(control);
  }
}

TEST(AcsUnknown, IsPlannedAsRedirected) {
  EXPECT_EQ(acs_on_request(AcsControl::unknown(), false), AcsEffect::Redirect);
  EXPECT_EQ(acs_on_completion(AcsControl::unknown(), false), AcsEffect::Redirect);
}

TEST(Acs, OnIsWhatLinuxSets) { EXPECT_EQ(AcsControl::on().bits, AcsControl::kSourceValidation | kRr | kCr | AcsControl::kUpstreamForwarding); }

// ------------------------------------------------------------------------------------------------------------- routes

PeerRoute route(Machine const& machine, std::string_view initiator, std::string_view target) {
  return peer_route(machine, *machine.find_function(initiator), *machine.find_function(target));
}

TEST(PeerRoute, BelowOneSwitchIsStraight) {
  auto const machine = test::machine_of({});
  auto const found = route(machine, "gpu0", "gpu1");
  EXPECT_EQ(found.request, Turn::Switch);
  EXPECT_EQ(found.completion, Turn::Switch);
  EXPECT_EQ(found.meeting, machine.find_function("sw0"));
  EXPECT_FALSE(found.redirected || found.blocked || found.acs_unknown);
  EXPECT_TRUE(found.same_host_bridge && found.same_socket);
}

TEST(PeerRoute, WithoutACommonSwitchIsThroughTheRootComplex) {
  auto const machine = test::machine_of({});
  auto const near = route(machine, "gpu0", "gpu2");
  EXPECT_EQ(near.request, Turn::RootComplex);
  EXPECT_FALSE(near.meeting || near.redirected || near.same_host_bridge);
  EXPECT_TRUE(near.same_socket);
  auto const far = route(machine, "gpu0", "gpu3");
  EXPECT_EQ(far.request, Turn::RootComplex);
  EXPECT_FALSE(far.same_socket);
}

TEST(PeerRoute, RrRedirectsRequestsAndCrCompletions) {
  auto const rr = route(test::machine_of({.settings = "acs: [RR]"}), "gpu0", "gpu1");
  EXPECT_EQ(rr.request, Turn::RootComplex);
  EXPECT_EQ(rr.completion, Turn::Switch);
  EXPECT_TRUE(rr.redirected);
  EXPECT_EQ(rr.data(false), Turn::RootComplex);  // a write's data are its requests
  EXPECT_EQ(rr.data(true), Turn::Switch);        // a read's are the completions
  EXPECT_TRUE(rr.through_root_complex(true));    // but it asks through the root complex
  auto const cr = route(test::machine_of({.settings = "acs: [CR]"}), "gpu0", "gpu1");
  EXPECT_EQ(cr.request, Turn::Switch);
  EXPECT_EQ(cr.completion, Turn::RootComplex);
  EXPECT_FALSE(cr.through_root_complex(false));  // a write has no completion
  EXPECT_TRUE(cr.through_root_complex(true));
}

TEST(PeerRoute, TheInitiatorsPortDecidesRequestsAndTheTargetsCompletions) {
  auto const at_initiator = route(test::machine_of({.at_gpu0 = "acs: [RR, CR]"}), "gpu0", "gpu1");
  EXPECT_EQ(at_initiator.request, Turn::RootComplex);
  EXPECT_EQ(at_initiator.completion, Turn::Switch);
  auto const at_target = route(test::machine_of({.at_gpu1 = "acs: [RR, CR]"}), "gpu0", "gpu1");
  EXPECT_EQ(at_target.request, Turn::Switch);
  EXPECT_EQ(at_target.completion, Turn::RootComplex);
}

TEST(PeerRoute, UnknownAcsIsSaidAndPlannedAsRedirected) {
  auto const found = route(test::machine_of({.settings = "acs: unknown"}), "gpu0", "gpu1");
  EXPECT_TRUE(found.acs_unknown);
  EXPECT_EQ(found.request, Turn::RootComplex);
}

constexpr char kAts[] = "iommu: vfio, virtualization: {kind: passthrough, approval: true, ats: true}";

TEST(PeerRoute, TranslatedRequestsPassWithDtAndAreBlockedByTb) {
  EXPECT_EQ(route(test::machine_of({.settings = fmt::format("acs: [RR], {}", kAts)}), "gpu0", "gpu1").request, Turn::RootComplex);
  auto const direct = route(test::machine_of({.settings = fmt::format("acs: [RR, DT], {}", kAts)}), "gpu0", "gpu1");
  EXPECT_EQ(direct.request, Turn::Switch);
  EXPECT_FALSE(direct.redirected);
  EXPECT_TRUE(route(test::machine_of({.settings = fmt::format("acs: [TB, DT], {}", kAts)}), "gpu0", "gpu1").blocked);
  EXPECT_FALSE(route(test::machine_of({.settings = "acs: [TB], iommu: pt"}), "gpu0", "gpu1").blocked);  // nothing is translated
}

TEST(PeerRoute, TbBlocksOnTheWayToTheRootComplexToo) {
  EXPECT_TRUE(route(test::machine_of({.settings = fmt::format("acs: off, {}", kAts), .at_gpu0 = "acs: [TB]"}), "gpu0", "gpu2").blocked);
  EXPECT_FALSE(route(test::machine_of({.settings = fmt::format("acs: off, {}", kAts), .at_gpu2 = "acs: [TB]"}), "gpu0", "gpu2").blocked);
}

// sw0 above sw1 (gpu0, gpu1) and gpu2; ACS where the test says.
Machine nested(std::string const& at_sw1, std::string const& at_gpu0, std::string const& settings = "acs: off") {
  return test::machine_from(fmt::format(R"(lanewise: machine/1
machine: nested
settings: {{{}}}
sockets:
  - socket: cpu0
    pcie:
      - root_port: rp0
        switch: sw0
        part: unknown
        ports:
          - switch: sw1
            part: unknown
            acs: {}
            ports: [{{gpu: gpu0, part: unknown, acs: {}}}, {{gpu: gpu1, part: unknown}}]
          - {{gpu: gpu2, part: unknown}}
)",
                                        settings, at_sw1, at_gpu0));
}

TEST(PeerRoute, NestedSwitchesAreDecidedWhereTheWaysPart) {
  auto const open = route(nested("off", "[RR, CR]"), "gpu0", "gpu2");  // below the parting: does not matter
  EXPECT_EQ(open.request, Turn::Switch);
  auto const shut = route(nested("[RR]", "off"), "gpu0", "gpu2");
  EXPECT_EQ(shut.request, Turn::RootComplex);
  auto const below = route(nested("[RR]", "off"), "gpu0", "gpu1");  // they part in sw1: its own upstream port is not asked
  EXPECT_EQ(below.request, Turn::Switch);
}

TEST(PeerRoute, TbIsAskedAtEveryPortThatTheRequestClimbs) {
  auto const settings = fmt::format("acs: off, {}", kAts);
  EXPECT_TRUE(route(nested("off", "[TB]", settings), "gpu0", "gpu2").blocked);
  EXPECT_TRUE(route(nested("[TB]", "off", settings), "gpu0", "gpu2").blocked);
  EXPECT_FALSE(route(nested("[TB]", "off", settings), "gpu2", "gpu0").blocked);  // it descends there
}

TEST(PeerRoute, VirtualSwitchesOfOneChipUseItsFabric) {
  test::Server const split{.settings = "acs: on", .pcie_switch = "link: gen4 x16, virtual_switch_fabric: 20 GB/s", .at_sw0 = "chip: c0"};
  auto const machine = test::machine_of(split);
  auto const found = route(machine, "gpu0", "gpu2");
  EXPECT_EQ(found.request, Turn::Chip);
  EXPECT_EQ(found.completion, Turn::Chip);
  EXPECT_FALSE(found.redirected);  // measured: ACS does not change this way
  test::Server without = split;
  without.pcie_switch = "link: gen4 x16";  // the part has no such fabric
  EXPECT_EQ(route(test::machine_of(without), "gpu0", "gpu2").request, Turn::RootComplex);
}

}  // namespace
}  // namespace lanewise
