#include "core/diagnosis/cluster_health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/machine/node_split.hpp"
#include "lanewise/machine/fingerprint.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 4> kFindingOf{"node", "others", "description", "measurement"};

// What costs bandwidth, or a transfer altogether.
Grade grade_of(DifferenceKind kind) {
  switch (kind) {
    case DifferenceKind::Device:
    case DifferenceKind::Location:
    case DifferenceKind::Link:
    case DifferenceKind::Acs:
    case DifferenceKind::Iommu:
    case DifferenceKind::Numa:
    case DifferenceKind::Part:
    case DifferenceKind::SocketLink:
    case DifferenceKind::Nvlink: return Grade::Fail;
    default: return Grade::Warn;
  }
}

std::string or_unknown(std::string const& text) { return text.empty() ? "unknown" : text; }

HealthFinding finding_of(MachineDifference const& difference, FindingOf of) {
  auto const first = or_unknown(difference.first);
  auto const second = or_unknown(difference.second);
  auto const subject = difference.subject.empty() ? std::string("the node") : difference.subject;
  return {
      grade_of(difference.kind), of, subject, fmt::format("{}: {} instead of {}", difference.key, second, first), {}};
}

std::vector<HealthFinding> differences_between(Machine const& reference, NodeReport const& report, FindingOf of) {
  auto comparison = compare_machines(reference, report.machine);
  mark_expected(comparison, report.unsaid);
  std::vector<HealthFinding> findings;
  for (auto const& difference : comparison.differences)
    if (difference.expected.empty()) findings.push_back(finding_of(difference, of));
  return findings;
}

// The node that most others are equal to.
std::size_t usual_node(std::vector<NodeReport> const& reports) {
  std::map<std::string, std::size_t> count;
  for (auto const& report : reports) ++count[fingerprint(report.machine)];
  std::size_t best = 0;
  for (std::size_t i = 0; i < reports.size(); ++i)
    if (count[fingerprint(reports[i].machine)] > count[fingerprint(reports[best].machine)]) best = i;
  return best;
}

bool holds(std::vector<HealthFinding> const& findings, HealthFinding const& wanted) {
  return std::any_of(findings.begin(), findings.end(), [&](HealthFinding const& finding) {
    return finding.subject == wanted.subject && finding.text == wanted.text;
  });
}

// Takes what every node has out of all of them.
std::vector<HealthFinding> take_common(std::vector<NodeHealth>& nodes) {
  std::vector<HealthFinding> common;
  for (auto const& finding : nodes.front().findings)
    if (std::all_of(nodes.begin(), nodes.end(), [&](NodeHealth const& node) { return holds(node.findings, finding); }))
      common.push_back(finding);
  for (auto& node : nodes)
    std::erase_if(node.findings, [&](HealthFinding const& finding) { return holds(common, finding); });
  return common;
}

void sort(ClusterHealth& health) {
  auto const worse = [](Grade a, Grade b) { return a > b; };
  for (auto& node : health.nodes)
    std::stable_sort(node.findings.begin(), node.findings.end(),
                     [&](HealthFinding const& a, HealthFinding const& b) { return worse(a.grade, b.grade); });
  std::stable_sort(health.nodes.begin(), health.nodes.end(), [](NodeHealth const& a, NodeHealth const& b) {
    return std::pair(a.count(Grade::Fail), a.count(Grade::Warn)) >
           std::pair(b.count(Grade::Fail), b.count(Grade::Warn));
  });
}

// The node of a place: "node3" of "node3/gpu0".
std::string node_of(std::string const& place) { return place.substr(0, place.find('/')); }

}  // namespace

std::string_view to_string(FindingOf of) { return kFindingOf.at(static_cast<std::size_t>(of)); }

std::size_t NodeHealth::count(Grade grade) const {
  return static_cast<std::size_t>(std::count_if(findings.begin(), findings.end(),
                                                [&](HealthFinding const& finding) { return finding.grade == grade; }));
}

bool ClusterHealth::is_well() const {
  return std::all_of(nodes.begin(), nodes.end(), [](NodeHealth const& node) { return node.findings.empty(); });
}

ClusterHealth examine_nodes(Machine const& cluster, std::vector<NodeReport> const& reports) {
  if (reports.empty() || reports.size() != cluster.hosts.size())
    throw std::invalid_argument("a report for each node of the cluster");
  ClusterHealth health;
  health.cluster = cluster.name;
  auto const split = NodeSplit::of(cluster);
  auto const usual = usual_node(reports);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    auto const& report = reports[i];
    NodeHealth node{cluster.hosts[i].name, report.host, {}, report.unread};
    for (auto const& text : report.disagreements) {
      auto const colon = text.find(": ");
      node.findings.push_back({Grade::Warn,
                               FindingOf::Node,
                               colon == std::string::npos ? "" : text.substr(0, colon),
                               colon == std::string::npos ? text : text.substr(colon + 2),
                               {}});
    }
    if (split)
      for (auto& finding : differences_between(split->alone(HostId(i)), report, FindingOf::Description))
        node.findings.push_back(std::move(finding));
    if (i != usual)
      for (auto& finding : differences_between(reports[usual].machine, report, FindingOf::Others))
        if (!holds(node.findings, finding)) node.findings.push_back(std::move(finding));
    health.nodes.push_back(std::move(node));
  }
  if (health.nodes.size() > 1)
    if (auto common = take_common(health.nodes); !common.empty())
      health.nodes.insert(health.nodes.begin(), NodeHealth{kEveryNode, {}, std::move(common), {}});
  sort(health);
  return health;
}

void add_finding(ClusterHealth& health, std::string const& node, HealthFinding finding) {
  auto const found =
      std::find_if(health.nodes.begin(), health.nodes.end(), [&](NodeHealth const& one) { return one.node == node; });
  if (found != health.nodes.end())
    found->findings.push_back(std::move(finding));
  else
    health.nodes.insert(health.nodes.begin(), NodeHealth{node, {}, {std::move(finding)}, {}});
  sort(health);
}

void add_figures(Diagnosis const& diagnosis, Measurement const& measurement, ClusterHealth& health) {
  struct Counted {
    std::size_t slow = 0, all = 0;
    [[nodiscard]] double share() const { return static_cast<double>(slow) / static_cast<double>(all); }
  };
  std::vector<MeasuredPoint const*> in_order;
  for (auto const& series : measurement.series)
    for (auto const& point : series.points) in_order.push_back(&point);
  std::map<std::string, Counted> nodes;
  auto const is_slow = [](GradedPoint const& point) {
    return point.grade != Grade::Pass && point.speed > 0 && point.speed < 1;
  };
  auto const count = std::min(diagnosis.points.size(), in_order.size());
  auto const nodes_of = [&](std::size_t i) {
    std::vector<std::string> of;
    for (auto const& flow : in_order[i]->flows)
      for (auto const& place : {flow.from, flow.to})
        if (auto node = node_of(place); std::find(of.begin(), of.end(), node) == of.end())
          of.push_back(std::move(node));
    return of;
  };
  for (std::size_t i = 0; i < count; ++i)
    for (auto const& node : nodes_of(i)) {
      ++nodes[node].all;
      if (is_slow(diagnosis.points[i])) ++nodes[node].slow;
    }
  for (std::size_t i = 0; i < count; ++i) {
    auto const& point = diagnosis.points[i];
    if (!is_slow(point)) continue;
    auto const of = nodes_of(i);
    if (of.empty()) continue;
    auto const culprit = *std::max_element(
        of.begin(), of.end(), [&](auto const& a, auto const& b) { return nodes[a].share() < nodes[b].share(); });
    HealthFinding finding{point.grade,
                          FindingOf::Measurement,
                          fmt::format("{}, {}", point.result.what, exact_text(point.result.bytes)),
                          fmt::format("{:.2g} times as fast as predicted", point.speed),
                          {}};
    if (point.cause) {
      auto const& cause = diagnosis.causes[*point.cause].what;
      finding.text += "; " + cause.text;
      finding.check = cause.check;
    }
    add_finding(health, culprit, std::move(finding));
  }
  health.figures = count;
}

nlohmann::ordered_json health_json(ClusterHealth const& health) {
  using Json = nlohmann::ordered_json;
  Json json{
      {"lanewise", "health/1"}, {"cluster", health.cluster}, {"well", health.is_well()}, {"figures", health.figures}};
  if (!health.not_measured.empty()) json["not_measured"] = health.not_measured;
  json["nodes"] = Json::array();
  for (auto const& node : health.nodes) {
    Json item{{"node", node.node}, {"host", node.host}, {"findings", Json::array()}, {"unread", node.unread}};
    for (auto const& finding : node.findings) {
      Json row{{"grade", to_string(finding.grade)},
               {"of", to_string(finding.of)},
               {"subject", finding.subject},
               {"text", finding.text}};
      if (!finding.check.empty()) row["check"] = finding.check;
      item["findings"].push_back(std::move(row));
    }
    json["nodes"].push_back(std::move(item));
  }
  return json;
}

}  // namespace lanewise
