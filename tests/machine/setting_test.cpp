#include "lanewise/machine/setting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"
#include "tests/support/server.hpp"

namespace lanewise {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Machine server_with(std::string const& text, test::Server const& server = {}) {
  auto machine = test::machine_of(server);
  auto catalogue = test::bundled();
  apply_setting(machine, parse_setting(text), catalogue);
  return machine;
}
std::string refusal_of(std::string const& text) {
  return test::input_error([&] { server_with(text); });
}
PciFunction const& function(Machine const& machine, std::string_view name) {
  return machine.at(*machine.find_function(name));
}
Settings const& settings(Machine const& machine) { return machine.hosts.front().settings; }

TEST(ParseSetting, SplitsAtTheFirstEqualsSign) {
  EXPECT_EQ(parse_setting("link@gpu3=gen3 x8"), (Setting{"link@gpu3", "gen3 x8"}));
  EXPECT_EQ(parse_setting("a=b=c"), (Setting{"a", "b=c"}));
  EXPECT_EQ(parse_setting("a="), (Setting{"a", ""}));
  EXPECT_THAT(test::input_error([] { parse_setting("acs"); }), HasSubstr("write KEY=VALUE"));
  EXPECT_THAT(test::input_error([] { parse_setting("=on"); }), HasSubstr("write KEY=VALUE"));
}

TEST(ApplySetting, AcsEverywhereOverridesThePorts) {
  auto const machine = server_with("acs=on", {.at_gpu0 = "acs: off"});
  EXPECT_EQ(settings(machine).acs, AcsControl::on());
  EXPECT_EQ(machine.acs_above(*machine.find_function("gpu0")), AcsControl::on());
}

TEST(ApplySetting, AcsAtADeviceIsThatOfThePortAboveIt) {
  auto const machine = server_with("acs@gpu0=RR,CR");
  EXPECT_EQ(to_string(*function(machine, "gpu0").acs), "RR,CR");
  EXPECT_FALSE(function(machine, "gpu1").acs);
}

TEST(ApplySetting, AcsAtASwitchIsThatOfItsDownstreamPorts) {
  auto const machine = server_with("acs@sw0=on");
  for (auto const* name : {"gpu0", "gpu1", "nic0"}) EXPECT_EQ(function(machine, name).acs, AcsControl::on());
  EXPECT_FALSE(function(machine, "sw0").acs);
  EXPECT_FALSE(function(machine, "gpu2").acs);
}

TEST(ApplySetting, AcsAtARootPortIsItsOwn) {
  auto const machine = server_with("acs@rp0=unknown");
  EXPECT_EQ(function(machine, "sw0").acs, AcsControl::unknown());
  EXPECT_FALSE(function(machine, "gpu0").acs);
}

TEST(ApplySetting, Iommu) {
  EXPECT_EQ(settings(server_with("iommu=off")).iommu, IommuMode::Off);
  EXPECT_EQ(settings(server_with("iommu=pt")).iommu, IommuMode::Passthrough);
  EXPECT_EQ(settings(server_with("iommu=passthrough")).iommu, IommuMode::Passthrough);
  EXPECT_EQ(settings(server_with("iommu=lazy")).iommu, IommuMode::Lazy);
  EXPECT_EQ(settings(server_with("iommu=on")).iommu, IommuMode::Lazy);
  EXPECT_EQ(settings(server_with("iommu=translated")).iommu, IommuMode::Lazy);
  EXPECT_EQ(settings(server_with("iommu=strict")).iommu, IommuMode::Strict);
  EXPECT_EQ(settings(server_with("iommu=vfio")).iommu, IommuMode::Vfio);
  EXPECT_EQ(settings(server_with("iommu=unknown")).iommu, IommuMode::Unknown);
  EXPECT_EQ(settings(server_with("iommu_page=2 MiB")).iommu_page, Bytes(2 << 20));
}

TEST(ApplySetting, Virtualization) {
  EXPECT_TRUE(settings(server_with("virtualization=passthrough")).virtualization.passthrough);
  EXPECT_EQ(settings(server_with("virtualization=none", {.settings = "virtualization: {kind: passthrough, ats: true}"}))
                .virtualization,
            Virtualization{});
  EXPECT_TRUE(settings(server_with("virtualization.approval=true")).virtualization.approval);
  EXPECT_TRUE(settings(server_with("virtualization.ats=on")).virtualization.ats);
  EXPECT_EQ(settings(server_with("virtualization.hypervisor=xen")).virtualization.hypervisor, "xen");
  EXPECT_THAT(settings(server_with("virtualization.clique=gpu0..gpu1,gpu3")).virtualization.cliques,
              ElementsAre(ElementsAre("gpu0", "gpu1", "gpu3")));
}

TEST(ApplySetting, Software) {
  EXPECT_FALSE(server_with("software.cuda=false").hosts.front().software.cuda);
  EXPECT_FALSE(server_with("software.peermem=off").hosts.front().software.peermem);
  EXPECT_FALSE(server_with("software.dma_buf=no").hosts.front().software.dma_buf);
  EXPECT_FALSE(server_with("software.gdrcopy=false").hosts.front().software.gdrcopy);
  EXPECT_FALSE(server_with("software.gpudirect_storage=false").hosts.front().software.gpudirect_storage);
  EXPECT_FALSE(server_with("software.fabric_manager=false").hosts.front().software.fabric_manager);
}

TEST(ApplySetting, LinkPartAndMigOfADevice) {
  EXPECT_EQ(function(server_with("link@gpu3=gen3 x8"), "gpu3").link, (PcieLink{3, 8}));
  EXPECT_TRUE(function(server_with("mig@gpu1=true"), "gpu1").mig);
  auto const machine = server_with("part@gpu2=h100-pcie-80g");
  EXPECT_EQ(machine.part_of(*machine.find_function("gpu2"))->name, "h100-pcie-80g");
  EXPECT_FALSE(function(machine, "gpu2").link);  // the new part's affair
  auto const other_cpu = server_with("part@cpu1=xeon-broadwell");
  EXPECT_EQ(other_cpu.part_of(SocketId{1})->name, "xeon-broadwell");
}

TEST(ApplySetting, NvlinkOffTakesEveryLinkAway) {
  auto const machine = server_with(
      "nvlink=off", {.nvlinks = "{between: [gpu0, gpu1], part: nvlink, count: 4}, "
                                "{switch: s, switch_part: nvswitch, part: nvlink, count: 2, gpus: [gpu0..gpu3]}"});
  EXPECT_TRUE(machine.nvlinks.empty());
  EXPECT_TRUE(machine.nvswitches.empty());
}

TEST(ApplySetting, EveryNodeOfAClusterIsSet) {
  auto cluster = test::cluster_of({}, "kind: direct");
  auto catalogue = test::bundled();
  apply_setting(cluster, parse_setting("iommu=strict"), catalogue);
  for (auto const& host : cluster.hosts) EXPECT_EQ(host.settings.iommu, IommuMode::Strict);
}

TEST(ApplySetting, RefusesWithTheSettingAndWhatIsAllowed) {
  EXPECT_THAT(refusal_of("asc=on"),
              HasSubstr("--set asc=on: unknown key 'asc'; did you mean 'acs'? allowed: acs, iommu"));
  EXPECT_THAT(refusal_of("acs=XX"), HasSubstr("'XX' is not an ACS control bit"));
  EXPECT_THAT(refusal_of("acs="), HasSubstr("ACS"));
  EXPECT_THAT(refusal_of("acs@gpu9=on"), HasSubstr("no port or device is called 'gpu9'; did you mean 'gpu"));
  EXPECT_THAT(refusal_of("iommu=maybe"), HasSubstr("not an IOMMU mode"));
  EXPECT_THAT(refusal_of("iommu="), HasSubstr("not an IOMMU mode"));
  EXPECT_THAT(refusal_of("iommu_page=4096"), HasSubstr("has no unit"));
  EXPECT_THAT(refusal_of("virtualization=docker"), HasSubstr("allowed: none, passthrough"));
  EXPECT_THAT(refusal_of("virtualization.ats=maybe"), HasSubstr("a flag is true or false"));
  EXPECT_THAT(refusal_of("virtualization.clique=gpu0,gpu9"), HasSubstr("no port or device is called 'gpu9'"));
  EXPECT_THAT(refusal_of("virtualization.clique=gpu3..gpu0"), HasSubstr("is not a range"));
  EXPECT_THAT(refusal_of("virtualization.magic=on"), HasSubstr("allowed: virtualization, virtualization.approval"));
  EXPECT_THAT(refusal_of("software.docker=on"), HasSubstr("allowed: software.cuda"));
  EXPECT_THAT(refusal_of("link@gpu0=fast"), HasSubstr("is not a PCIe link"));
  EXPECT_THAT(refusal_of("part@gpu0=h100-pcie-80"),
              HasSubstr("no part is called 'h100-pcie-80'; did you mean 'h100-pcie-80g'?"));
  EXPECT_THAT(refusal_of("part@gpu0=xeon-broadwell"), HasSubstr("'xeon-broadwell' is a cpu, but a gpu is needed"));
  EXPECT_THAT(refusal_of("part@cpu0=h100-pcie-80g"), HasSubstr("'h100-pcie-80g' is a gpu, but a cpu is needed"));
  EXPECT_THAT(refusal_of("mig@nic0=true"), HasSubstr("mig belongs to a GPU"));
  EXPECT_THAT(refusal_of("colour@gpu0=red"), HasSubstr("before '@' are allowed: acs, link, part, mig"));
  EXPECT_THAT(refusal_of("nvlink=on"), HasSubstr("only 'off' is allowed"));
}

TEST(ParseAcs, WordsAndBits) {
  EXPECT_EQ(parse_acs("on").value->bits, 0x1d);  // SV, RR, CR, UF: what Linux sets with an IOMMU
  EXPECT_EQ(parse_acs("off").value->bits, 0);
  EXPECT_FALSE(parse_acs("unknown").value->known);
  EXPECT_EQ(parse_acs("SV,TB,RR,CR,UF,EC,DT").value->bits, 0x7f);
  EXPECT_EQ(parse_acs("RR+DT").value->bits, 0x44);
  for (int bits = 0; bits < 0x80; ++bits) {
    AcsControl const control{true, static_cast<std::uint16_t>(bits)};
    EXPECT_EQ(parse_acs(to_string(control)).value, control) << to_string(control);
  }
}

TEST(ApplySetting, NamesEveryKeyWhereItKnowsNone) {
  auto const refusal = refusal_of("nosuch=1");
  for (auto const* key : {"acs", "iommu_page", "nvlink", "virtualization.clique", "software.gdrcopy", "mig@NAME"})
    EXPECT_THAT(refusal, HasSubstr(key));
  EXPECT_THAT(refusal_of("software.gdrcpy=true"), HasSubstr("allowed: software."));
}

TEST(ApplySetting, SaysThatAFigureOfAPartIsNoSetting) {
  EXPECT_THAT(
      refusal_of("memory_bandwidth@cpu0=1"),
      HasSubstr("'memory_bandwidth' is not a setting; before '@' are allowed: acs, link, part, mig, off, count, rate, "
                "uplinks, routing, flows_per_pair; figures of a part change with the part: part@cpu0=PART"));
  EXPECT_THAT(refusal_of("lnk@gpu0=gen3 x8"), HasSubstr("did you mean 'link'?"));
}

}  // namespace
}  // namespace lanewise
