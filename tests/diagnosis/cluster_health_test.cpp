// What is wrong with the nodes of a cluster: differences that the tests make, and figures that they invent.
#include "core/diagnosis/cluster_health.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/interop/exports/junit.hpp"
#include "core/machine/node_split.hpp"
#include "core/measurement/worklist.hpp"
#include "core/view/health_text.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Machine cluster() { return test::bundled().machine("hgx-h100-16"); }

// Nodes that are as the cluster's file says.
std::vector<NodeReport> reports_of(Machine const& of) {
  std::vector<NodeReport> reports;
  auto const split = NodeSplit::of(of);
  for (std::size_t i = 0; i < of.hosts.size(); ++i) {
    reports.push_back({"host" + std::to_string(i), split->alone(HostId(i)), {}, {}, {}});
    reports.back().machine.name = reports.back().host;  // as discovery calls it
  }
  return reports;
}

// A link that trained below what both ends could do.
void narrow(NodeReport& report, std::string const& name, PcieLink link) {
  auto& function = report.machine.functions[index(*report.machine.find_function(name))];
  function.max_link = PcieLink{5, 16};
  function.link = link;
}

NodeHealth const& node(ClusterHealth const& health, std::string const& name) {
  for (auto const& one : health.nodes)
    if (one.node == name) return one;
  throw std::out_of_range(name);
}

// Half as fast as predicted, or as fast.
void grade(GradedPoint& point, bool is_slow) {
  point.result.predicted = 10e9;
  point.speed = is_slow ? 0.5 : 1;
  point.result.measured = point.speed * 10e9;
  point.grade = is_slow ? Grade::Fail : Grade::Pass;
}

TEST(ClusterHealth, NodesAsDescribedAreWell) {
  auto const of = cluster();
  auto const health = examine_nodes(of, reports_of(of));
  EXPECT_TRUE(health.is_well());
  EXPECT_EQ(health.nodes.size(), of.hosts.size());
  EXPECT_THAT(health_text(health), HasSubstr("16 nodes of hgx-h100-16: nothing is wrong"));
}

TEST(ClusterHealth, TheNodeWithANarrowLinkIsNamedFirst) {
  auto const of = cluster();
  auto reports = reports_of(of);
  narrow(reports[5], "gpu3", {5, 8});
  auto const health = examine_nodes(of, reports);
  ASSERT_FALSE(health.is_well());
  auto const& worst = health.nodes.front();
  EXPECT_EQ(worst.node, "node5");
  EXPECT_EQ(worst.host, "host5");
  ASSERT_EQ(worst.findings.size(), 1U) << "once, though it differs from the file and from the others";
  EXPECT_EQ(worst.findings[0].grade, Grade::Fail);
  EXPECT_EQ(worst.findings[0].subject, "gpu3");
  EXPECT_THAT(worst.findings[0].text, AllOf(HasSubstr("gen5 x8"), HasSubstr("instead of")));
}

// The first node is no measure of the others.
TEST(ClusterHealth, ABadFirstNodeIsTheOnlyBadOne) {
  for (auto const* name : {"hgx-h100-16", "hgx-h100-2"}) {
    auto const of = test::bundled().machine(name);
    auto reports = reports_of(of);
    narrow(reports[0], "gpu0", {5, 8});
    auto const health = examine_nodes(of, reports);
    EXPECT_EQ(health.nodes.front().node, "node0");
    for (std::size_t i = 1; i < health.nodes.size(); ++i) EXPECT_TRUE(health.nodes[i].findings.empty()) << name;
  }
}

// A cluster of different machines: each is compared with those that should be like it.
TEST(ClusterHealth, DifferentMachinesAreNoFindings) {
  auto const of = test::bundled().machine("dgx-h100-2-storage");
  EXPECT_TRUE(examine_nodes(of, reports_of(of)).is_well());
}

TEST(ClusterHealth, WhatTheFileDoesNotSayIsComparedWithTheOthers) {
  auto const of = cluster();
  auto reports = reports_of(of);
  for (auto& report : reports)
    report.machine.functions[index(*report.machine.find_function("nic0"))].firmware = "28.39";
  reports[7].machine.functions[index(*reports[7].machine.find_function("nic0"))].firmware = "28.36";
  auto const health = examine_nodes(of, reports);
  EXPECT_EQ(health.nodes.front().node, "node7");
  for (std::size_t i = 1; i < health.nodes.size(); ++i) EXPECT_TRUE(health.nodes[i].findings.empty());
}

TEST(ClusterHealth, FirmwareOnlyWarns) {
  auto const of = cluster();
  auto reports = reports_of(of);
  for (auto& report : reports) report.machine.hosts.front().settings.firmware = "BIOS 2.1";
  reports[2].machine.hosts.front().settings.firmware = "BIOS 1.9";
  auto const health = examine_nodes(of, reports);
  EXPECT_EQ(health.nodes.front().node, "node2");
  EXPECT_EQ(health.nodes.front().count(Grade::Fail), 0U);
  EXPECT_EQ(health.nodes.front().count(Grade::Warn), 1U);
}

TEST(ClusterHealth, WhatAllNodesHaveIsSaidOnce) {
  auto const of = cluster();
  auto reports = reports_of(of);
  for (auto& report : reports) report.machine.hosts.front().settings.iommu = IommuMode::Strict;
  auto const health = examine_nodes(of, reports);
  EXPECT_EQ(health.nodes.front().node, kEveryNode);
  EXPECT_EQ(health.nodes.front().findings.size(), 1U);
  for (std::size_t i = 1; i < health.nodes.size(); ++i) EXPECT_TRUE(health.nodes[i].findings.empty());
}

TEST(ClusterHealth, WhatNoSourceSaysIsNoFinding) {
  auto const of = cluster();
  auto reports = reports_of(of);
  reports[1].machine.hosts.front().settings.acs = AcsControl::unknown();
  reports[1].unsaid = {{.kind = DifferenceKind::Acs, .reason = "the system does not say it", .second_silent = true}};
  reports[1].unread = {"ACS: root is needed"};
  auto const health = examine_nodes(of, reports);
  EXPECT_TRUE(health.is_well());
  EXPECT_THAT(health_text(health), HasSubstr("not read on node1: ACS: root is needed"));
}

// Every transfer from and to node 2 is half as fast as it should be, so node 2 is at fault, not its partners.
TEST(ClusterHealth, ASlowNodeIsFoundByItsTransfers) {
  auto const of = cluster();
  Model const model(of);
  Measurement measurement;
  measurement.series = series_to_measure(model, {.patterns = false, .quick = true});
  Diagnosis diagnosis;
  for (auto const& series : measurement.series)
    for (auto const& point : series.points) {
      auto const& flow = point.flows.front();
      bool const of_node2 = flow.from.starts_with("node2/") || flow.to.starts_with("node2/");
      GradedPoint graded;
      graded.result.what = flow.from + " > " + flow.to;
      graded.result.bytes = point.bytes;
      grade(graded, of_node2);
      diagnosis.points.push_back(graded);
    }
  auto health = examine_nodes(of, reports_of(of));
  add_figures(diagnosis, measurement, health);
  EXPECT_GT(health.figures, 2 * of.hosts.size());
  EXPECT_EQ(health.nodes.front().node, "node2");
  for (auto const& one : health.nodes) EXPECT_EQ(one.findings.empty(), one.node != "node2") << one.node;
  EXPECT_THAT(node(health, "node2").findings.front().text, HasSubstr("0.5 times as fast as predicted"));
}

// All wait for the slowest in a pattern, and both ends of a pair are as slow: nobody is blamed.
TEST(ClusterHealth, AFigureOfNobodysFaultIsOfEveryNode) {
  auto const of = cluster();
  Model const model(of);
  Measurement measurement;
  measurement.series = series_to_measure(model, {.quick = true});
  Diagnosis diagnosis;
  for (auto const& series : measurement.series)
    for (auto const& point : series.points) {
      GradedPoint graded;
      graded.result.what = "some";
      grade(graded, point.flows.size() > 2);
      diagnosis.points.push_back(graded);
    }
  auto health = examine_nodes(of, reports_of(of));
  add_figures(diagnosis, measurement, health);
  EXPECT_EQ(health.nodes.front().node, kEveryNode);
  for (std::size_t i = 1; i < health.nodes.size(); ++i) EXPECT_TRUE(health.nodes[i].findings.empty());
}

TEST(ClusterHealth, IsWrittenForPeopleProgramsAndCi) {
  auto const of = cluster();
  auto reports = reports_of(of);
  narrow(reports[0], "gpu0", {4, 16});
  auto health = examine_nodes(of, reports);
  health.not_measured = "--no-measure";
  auto const json = health_json(health);
  EXPECT_EQ(json.at("lanewise"), "health/1");
  EXPECT_EQ(json.at("well"), false);
  EXPECT_EQ(json.at("nodes").at(0).at("node"), "node0");
  EXPECT_EQ(json.at("nodes").at(0).at("findings").at(0).at("of"), "description");
  EXPECT_THAT(health_text(health), AllOf(HasSubstr("node0 (host0)"), HasSubstr("times were not judged: --no-measure"),
                                         HasSubstr("1 failure, 0 warnings")));
  auto const junit = junit_xml(health);
  EXPECT_THAT(junit, AllOf(HasSubstr("tests=\"16\" failures=\"1\""), HasSubstr("name=\"node0 (host0)\"")));
  EXPECT_THAT(junit, Not(HasSubstr("name=\"every node\"")));
}

TEST(ClusterHealth, NeedsAReportOfEachNode) {
  auto const of = cluster();
  auto reports = reports_of(of);
  reports.pop_back();
  EXPECT_THROW(examine_nodes(of, reports), std::invalid_argument);
}

// ---------------------------------------------------------------------------------------------------------- worklist

TEST(Worklist, OfAClusterEachNodeSendsAndReceivesAsOftenAsAllOthers) {
  Model const model(cluster());
  for (bool const quick : {true, false}) {
    std::map<std::string, int> from;
    std::map<std::string, int> to;
    for (auto const& series :
         series_to_measure(model, {.patterns = false, .max_bytes = Bytes(1 << 20), .quick = quick}))
      for (auto const& point : series.points)
        for (auto const& flow : point.flows) {
          auto const node_of = [](std::string const& place) { return place.substr(0, place.find('/')); };
          EXPECT_NE(node_of(flow.from), node_of(flow.to)) << "what is within a node is its machine's";
          ++from[node_of(flow.from)];
          ++to[node_of(flow.to)];
        }
    ASSERT_EQ(from.size(), 16U);
    for (auto const& [name, count] : from) EXPECT_EQ(count, from.begin()->second) << name;
    EXPECT_EQ(from, to);
  }
}

TEST(Worklist, PatternsOfAClusterAreOfItsNodes) {
  Model const model(test::bundled().machine("ethernet-3"));
  std::vector<std::string> names;
  for (auto const& series : series_to_measure(model, {.singles = false})) names.push_back(series.name);
  EXPECT_THAT(names, testing::ElementsAre("pattern-shift-1-of-hosts", "pattern-all-to-all-of-hosts",
                                          "pattern-fan-in-of-hosts", "pattern-fan-out-of-hosts"));
}

}  // namespace
}  // namespace lanewise
