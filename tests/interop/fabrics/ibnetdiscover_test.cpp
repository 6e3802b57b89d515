#include "core/interop/fabrics/ibnetdiscover.hpp"

#include "core/interop/fabrics/fabric_cluster.hpp"
#include "core/interop/formats/formats.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;

// One switch with its ports; a port is "kind guid[port] description speed".
std::string header(std::string const& guid, std::string const& name) {
  return "\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x" + guid + "\nswitchguid=0x" + guid + "(" + guid +
         ")\nSwitch\t65 \"S-" + guid + "\"\t\t# \"" + name + "\" enhanced port 0 lid 73 lmc 0\n";
}
std::string adapter(int port, std::string const& guid, std::string const& name, std::string const& speed = "4xNDR") {
  return "[" + std::to_string(port) + "]\t\"H-" + guid + "\"[1](" + guid + ") \t\t# \"" + name + "\" lid 64 " + speed +
         "\n";
}
std::string to_switch(int port, std::string const& guid, int other, std::string const& name) {
  return "[" + std::to_string(port) + "]\t\"S-" + guid + "\"[" + std::to_string(other) + "]\t\t# \"" + name +
         "\" lid 9 4xNDR\n";
}
constexpr auto kTop = "#\n# Topology file: generated on Wed Aug  6 16:11:23 2025\n#\n# Initiated from node 1 port 1\n";

IbFabric read(std::string const& text) { return read_ibnetdiscover(SourceText::from_memory("fabric.txt", text)); }

// Four hosts with two adapters: rail 0 on leaf A, rail 1 on leaf B; two cables from each leaf to a spine.
std::string rails(std::string const& slow = "4xNDR") {
  std::string text = kTop;
  for (int rail = 0; rail < 2; ++rail) {
    text += header(rail == 0 ? "a0" : "b0", "MF0;leaf" + std::to_string(rail) + ":MQM9700/U1");
    for (int host = 0; host < 4; ++host)
      text += adapter(host + 1, std::to_string(10 * rail + host + 100),
                      "h" + std::to_string(host) + " mlx5_" + std::to_string(rail),
                      host == 2 && rail == 1 ? slow : "4xNDR");
    text += to_switch(60, "c0", 1 + 2 * rail, "MF0;spine:MQM9700/U1") +
            to_switch(61, "c0", 2 + 2 * rail, "MF0;spine:MQM9700/U1");
    text += adapter(65, "f" + std::to_string(rail), "Mellanox Technologies Aggregation Node");
  }
  return text;
}

TEST(Ibnetdiscover, SwitchesAdaptersAndCables) {
  auto const fabric = read(rails() +
                           "\nvendid=0x2c9\ncaguid=0x64\nCa\t1 \"H-0000000000000100\"\t\t# \"h0 mlx5_0\"\n"
                           "[1](100) \t\"S-a0\"[1]\t\t# lid 64 lmc 0 \"MF0;leaf0:MQM9700/U1\" lid 73 4xNDR\n");
  EXPECT_EQ(fabric.nodes.size(), 3U + 8U + 2U);
  EXPECT_EQ(fabric.cables.size(), 8U + 4U + 2U) << "a cable that both ends list counts once";
  EXPECT_EQ(fabric.cables.front().rate, BytesPerSecond(50e9));
  EXPECT_EQ(fabric.nodes.front().ports, 65);
}

TEST(Ibnetdiscover, Rates) {
  EXPECT_EQ(infiniband_rate("4xHDR"), BytesPerSecond(25e9));
  EXPECT_EQ(infiniband_rate("2xNDR"), BytesPerSecond(25e9));
  EXPECT_EQ(infiniband_rate("4xQDR"), BytesPerSecond(4e9));
  EXPECT_FALSE(infiniband_rate("4xWDR"));
  EXPECT_FALSE(infiniband_rate("NDR"));
}

TEST(Ibnetdiscover, TheListOfPorts) {
  auto const fabric = read(
      "SW    21  3 0x0008f10400411a08 4x SDR - CA    4  1 0x0002c902002227b8 ( 'ISR Voltaire' - 'h1 HCA-1' )\n"
      "SW    21  4 0x0008f10400411a08 4x SDR                                   'ISR Voltaire'\n");
  EXPECT_EQ(fabric.nodes.size(), 2U);
  ASSERT_EQ(fabric.cables.size(), 1U);
  EXPECT_EQ(fabric.cables[0].rate, BytesPerSecond(1e9));
  EXPECT_EQ(fabric.nodes[1].description, "h1 HCA-1");
}

TEST(Ibnetdiscover, BecomesAClusterOfRails) {
  auto catalogue = bundled();
  auto const made = cluster_of(read(rails("4xHDR")), "site", "hgx-h100", catalogue);
  auto const cluster = catalogue.machine_from(SourceText::from_memory("site.yaml", made.yaml));
  EXPECT_EQ(cluster.hosts.size(), 4U);
  ASSERT_TRUE(cluster.fabric);
  EXPECT_EQ(cluster.fabric->networks.front().kind, "rail_optimised");
  ASSERT_EQ(cluster.fabric->switches.size(), 3U);
  EXPECT_EQ(cluster.fabric->uplink(0), BytesPerSecond(100e9));
  EXPECT_EQ(cluster.at(*cluster.fabric->switches[0].part).name, "quantum-2-ndr");
  auto const slow = cluster.find_function("node2/nic1").value();
  EXPECT_EQ(cluster.fabric->attachments_of(slow).front().rate, BytesPerSecond(25e9));
}

TEST(Ibnetdiscover, OneSwitchAndTwoHostsBackToBack) {
  auto catalogue = bundled();
  auto const single =
      cluster_of(read(kTop + header("a0", "sw") + adapter(1, "1", "h0 mlx5_0") + adapter(2, "2", "h1 mlx5_0")), "one",
                 "hgx-h100", catalogue);
  EXPECT_THAT(single.yaml, HasSubstr("kind: single_switch"));
  auto const direct = cluster_of(read("caguid=0x1\nCa\t1 \"H-0000000000000001\"\t\t# \"h0 mlx5_0\"\n[1](1) "
                                      "\t\"H-0000000000000002\"[1] (2) \t\t# lid 1 lmc 0 "
                                      "\"h1 mlx5_0\" lid 2 4xHDR\n"),
                                 "two", "hgx-h100", catalogue);
  EXPECT_THAT(direct.yaml, HasSubstr("kind: direct"));
}

TEST(Ibnetdiscover, SaysWhatIsMissing) {
  auto catalogue = bundled();
  EXPECT_THAT(error_of([] { read("hello\n"); }), HasSubstr("Switch 65"));
  EXPECT_THAT(error_of([&] { (void)cluster_of(read(rails()), "x", "mi-edr", catalogue); }), HasSubstr("--machine"));
  EXPECT_THAT(error_of([&] {
                (void)cluster_of(read(header("a0", "sw") + adapter(1, "1", "MT4129 ConnectX7   Mellanox Technologies")),
                                 "x", "hgx-h100", catalogue);
              }),
              HasSubstr("names its host"));
}

TEST(Ibnetdiscover, IsRecognised) {
  auto const* format = recognise_format(rails());
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(format->name, "ibnetdiscover");
}

}  // namespace
}  // namespace lanewise
