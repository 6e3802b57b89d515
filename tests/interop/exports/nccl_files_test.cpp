#include "core/interop/exports/nccl_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/interop/machines/nccl/document.hpp"
#include "core/interop/machines/nccl/graph.hpp"
#include "core/interop/machines/nccl/topology.hpp"
#include "core/machine/path_class.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;
using testing::Not;

Catalogue& bundled() {
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  return catalogue;
}
SourceText source_of(std::string const& text) { return SourceText::from_memory("nccl.xml", text); }

// NCCL's file has no root ports, so it does not tell whether two switches share a host bridge.
PathClass distance(Machine const& machine, PciId a, PciId b) {
  auto const found = path_class(machine, a, b);
  return found == PathClass::Phb ? PathClass::Node : found;
}

class ExportedTopology : public testing::TestWithParam<std::string> {};

// The importer finds the same GPUs and NICs, as far from one another, with the same NVLinks.
TEST_P(ExportedTopology, IsReadBack) {
  auto const machine = bundled().machine(GetParam());
  auto const again =
      read_nccl_topology(source_of(nccl_topology_xml(machine, NcclDetail::AsDumped)), TopoOptions{}, bundled());
  auto const gpus = machine.all(PciKind::Gpu);
  auto const read = again.all(PciKind::Gpu);
  ASSERT_EQ(gpus.size(), read.size());
  EXPECT_EQ(machine.all(PciKind::Nic).size(), again.all(PciKind::Nic).size());
  for (std::size_t a = 0; a < gpus.size(); ++a)
    for (std::size_t b = 0; b < gpus.size(); ++b) {
      EXPECT_EQ(distance(machine, gpus[a], gpus[b]), distance(again, read[a], read[b])) << a << " " << b;
    }
}
INSTANTIATE_TEST_SUITE_P(Machines, ExportedTopology,
                         testing::Values("hgx-h100", "dgx-a100", "dgx-1-v100", "rtx6000pro-x8-genoa", "l40s-x8"),
                         [](auto const& machine) {
                           auto name = machine.param;
                           for (auto& letter : name)
                             if (letter == '-') letter = '_';
                           return name;
                         });

// NCCL finds GPUs, NICs and NVLinks itself and wants the rest only.
TEST(ExportedTopologyFile, HasTheTreeOnlyUnlessAskedFor) {
  auto const machine = bundled().machine("hgx-h100");
  auto const plain = nccl_topology_xml(machine, NcclDetail::PciOnly);
  EXPECT_THAT(plain, Not(HasSubstr("<gpu")));
  EXPECT_THAT(plain, Not(HasSubstr("0x0108")));  // drives
  EXPECT_THAT(plain, HasSubstr(R"(link_speed="32.0 GT/s PCIe" link_width="16")"));
  auto const system = read_nccl_system(source_of(plain));
  ASSERT_EQ(system.cpus.size(), 2U);
  EXPECT_EQ(system.cpus[0].pci.size(), 2U);
  EXPECT_EQ(system.cpus[0].pci[0].below.size(), 4U);
}

TEST(ExportedTopologyFile, IsOfOneMachine) {
  EXPECT_THROW(nccl_topology_xml(bundled().machine("hgx-h100-2"), NcclDetail::PciOnly), PlanError);
  EXPECT_THROW(nccl_graph_xml(Model(bundled().machine("hgx-h100-2"))), PlanError);
}

// A ring over V100s uses every NVLink once in each direction: six links of a GPU, six rings, each by two blocks at
// least.
TEST(ExportedGraph, HasTheRingsThatShareNoLink) {
  auto const graphs = read_nccl_graphs(source_of(nccl_graph_xml(Model(bundled().machine("dgx-1-v100")))));
  ASSERT_EQ(graphs.size(), 1U);
  EXPECT_EQ(graphs[0].type_intra, "NVL");
  EXPECT_GE(graphs[0].channels.size(), 6U);
  for (auto const& channel : graphs[0].channels) EXPECT_EQ(channel.size(), 8U);
}

// Where NCCL falls back to one channel: two sockets of AMD.
TEST(ExportedGraph, HasAsManyChannelsAsTheNarrowestHopNeeds) {
  auto const graphs = read_nccl_graphs(source_of(nccl_graph_xml(Model(bundled().machine("rtx6000pro-x8-genoa")))));
  EXPECT_EQ(graphs[0].channels.size(), 2U);
  EXPECT_NEAR(graphs[0].speed_intra, 26, 3);
}

std::string const kDump = R"(<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="20" speedinter="20" typeintra="NVL" typeinter="PIX" samechannels="1">
    <channel><net dev="0"/><gpu dev="0"/><gpu dev="1"/></channel>
    <channel><gpu rank="1"/><gpu rank="0"/></channel>
  </graph>
  <graph id="1" pattern="1"/>
</graphs>
)";

TEST(NcclGraphFile, IsReadInBothForms) {
  auto const graphs = read_nccl_graphs(source_of(kDump));
  ASSERT_EQ(graphs.size(), 2U);
  EXPECT_EQ(graphs[0].channels, (std::vector<std::vector<std::size_t>>{{0, 1}, {1, 0}}));
  EXPECT_EQ(graphs[0].speed_intra, 20);
}

TEST(NcclGraphFile, IsComparedWithTheRingsThatNcclWouldFind) {
  std::vector<std::string> subjects;
  for (auto const& difference : compare_nccl_graph(source_of(kDump), bundled().machine("hgx-h100")))
    subjects.push_back(difference.subject);
  EXPECT_THAT(subjects, testing::ElementsAre("channels", "rate of a channel"));
}

TEST(NcclGraphFile, SaysWhatIsWrong) {
  auto const error = [](std::string const& text) {
    return test::input_error([&] { compare_nccl_graph(source_of(text), bundled().machine("h100x2-vm")); });
  };
  EXPECT_THAT(error("<graphs><graph id=\"0\"><channel><gpu dev=\"x\"/></channel></graph></graphs>"),
              HasSubstr("nccl.xml:1:33: error: a GPU has a 'dev' (hexadecimal) or 'rank' below 1024, not 'x'"));
  EXPECT_THAT(error("<graphs><graph id=\"0\"><channel><gpu dev=\"7\"/></channel></graph></graphs>"),
              HasSubstr("a ring passes GPU 7, and 'h100x2-vm' has 2 GPUs"));
  EXPECT_THAT(error("<graphs><graph id=\"0\"><channel><gpu dev=\"1\"/><gpu dev=\"1\"/></channel></graph></graphs>"),
              HasSubstr("a ring passes two GPUs at least"));
  EXPECT_THAT(error("<graphs/>"), HasSubstr("no rings"));
  EXPECT_THAT(error("<system/>"), HasSubstr("expected <graphs>"));
}

}  // namespace
}  // namespace lanewise
