#include "core/diagnosis/cluster_health.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "core/diagnosis/grading.hpp"
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

// "link: gen4 x8 instead of gen5 x16"; of a device that one of the two lacks, which.
std::string text_of(MachineDifference const& difference, FindingOf of) {
  constexpr std::string_view kLacks = "absent";
  auto const* const whose = of == FindingOf::Description ? "the file" : "most others";
  if (difference.second == kLacks)
    return fmt::format("{}: missing; {} has {}", difference.key, whose, difference.first);
  if (difference.first == kLacks)
    return fmt::format("{}: {}, which {} has not", difference.key, difference.second, whose);
  return fmt::format("{}: {} instead of {}", difference.key, or_unknown(difference.second),
                     or_unknown(difference.first));
}

HealthFinding finding_of(MachineDifference const& difference, FindingOf of) {
  return {grade_of(difference.kind),
          of,
          difference.subject.empty() ? "the node" : difference.subject,
          text_of(difference, of),
          {}};
}

std::vector<MachineDifference> differences_between(Machine const& reference, NodeReport const& report) {
  auto comparison = compare_machines(reference, report.machine);
  mark_expected(comparison, report.unsaid);
  std::erase_if(comparison.differences, [](auto const& difference) { return !difference.expected.empty(); });
  return std::move(comparison.differences);
}

bool names(std::vector<MachineDifference> const& differences, MachineDifference const& wanted) {
  return std::any_of(differences.begin(), differences.end(), [&](MachineDifference const& one) {
    return one.kind == wanted.kind && one.subject == wanted.subject && one.key == wanted.key;
  });
}

std::string fingerprint_without_name(Machine machine) {
  machine.name.clear();
  return fingerprint(machine);
}

// Nodes that the file describes alike.
std::vector<std::vector<std::size_t>> groups_of(std::vector<std::optional<Machine>> const& described) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < described.size(); ++i)
    groups[described[i] ? fingerprint_without_name(*described[i]) : std::string()].push_back(i);
  std::vector<std::vector<std::size_t>> all;
  for (auto& [print, group] : groups) all.push_back(std::move(group));
  return all;
}

// One of more than half of a group, which are equal. Nullopt: there are no such.
std::optional<std::size_t> usual_node(std::vector<std::size_t> const& group, std::vector<NodeReport> const& reports) {
  std::map<std::string, std::vector<std::size_t>> equal;
  for (auto const i : group) equal[fingerprint_without_name(reports[i].machine)].push_back(i);
  for (auto const& [print, nodes] : equal)
    if (2 * nodes.size() > group.size()) return nodes.front();
  return std::nullopt;
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

// Worst first; what every node has comes before all.
void sort(ClusterHealth& health) {
  for (auto& node : health.nodes)
    std::stable_sort(node.findings.begin(), node.findings.end(),
                     [](HealthFinding const& a, HealthFinding const& b) { return a.grade > b.grade; });
  auto const rank = [](NodeHealth const& node) {
    return std::tuple(node.node == kEveryNode, node.count(Grade::Fail), node.count(Grade::Warn));
  };
  std::stable_sort(health.nodes.begin(), health.nodes.end(),
                   [&](NodeHealth const& a, NodeHealth const& b) { return rank(a) > rank(b); });
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
  std::vector<std::optional<Machine>> described(reports.size());
  std::vector<std::vector<MachineDifference>> from_file(reports.size());
  for (std::size_t i = 0; i < reports.size(); ++i) {
    auto const& report = reports[i];
    NodeHealth node{cluster.hosts[i].name, report.host, {}, report.unread};
    for (auto const& text : report.disagreements) {
      auto const colon = text.find(": ");
      bool const has_subject = colon != std::string::npos;
      node.findings.push_back({Grade::Warn,
                               FindingOf::Node,
                               has_subject ? text.substr(0, colon) : std::string(),
                               has_subject ? text.substr(colon + 2) : text,
                               {}});
    }
    if (split) {
      described[i] = split->alone(HostId(i));
      from_file[i] = differences_between(*described[i], report);
    }
    for (auto const& difference : from_file[i]) node.findings.push_back(finding_of(difference, FindingOf::Description));
    health.nodes.push_back(std::move(node));
  }
  for (auto const& group : groups_of(described)) {
    auto const usual = usual_node(group, reports);
    if (!usual) continue;
    for (auto const i : group)
      for (auto const& difference : differences_between(reports[*usual].machine, reports[i])) {
        // Said already; or it is the usual node that differs from the file; or that node does not say.
        if (names(from_file[i], difference) || names(from_file[*usual], difference) || difference.first.empty())
          continue;
        health.nodes[i].findings.push_back(finding_of(difference, FindingOf::Others));
      }
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
    [[nodiscard]] double share() const { return all == 0 ? 0 : static_cast<double>(slow) / static_cast<double>(all); }
  };
  std::vector<MeasuredPoint const*> points;
  for (auto const& series : measurement.series)
    for (auto const& point : series.points) points.push_back(&point);
  auto const count = std::min(diagnosis.points.size(), points.size());
  auto const nodes_of = [&](std::size_t i) {
    std::vector<std::string> of;
    for (auto const& flow : points[i]->flows)
      for (auto const& place : {flow.from, flow.to})
        if (auto node = node_of(place); std::find(of.begin(), of.end(), node) == of.end())
          of.push_back(std::move(node));
    return of;
  };
  std::map<std::string, Counted> nodes;  // of transfers alone: in a pattern all wait for the slowest
  for (std::size_t i = 0; i < count; ++i) {
    if (points[i]->flows.size() > 1) continue;
    for (auto const& node : nodes_of(i)) {
      ++nodes[node].all;
      if (is_slow(diagnosis.points[i])) ++nodes[node].slow;
    }
  }
  // The node whose transfers are slow more often than those of the others that took part; else all of these.
  auto const culprit = [&](std::vector<std::string> const& of) -> std::string {
    auto const worst = *std::max_element(
        of.begin(), of.end(), [&](auto const& a, auto const& b) { return nodes[a].share() < nodes[b].share(); });
    auto const as_bad = std::count_if(
        of.begin(), of.end(), [&](std::string const& node) { return nodes[node].share() >= nodes[worst].share(); });
    return as_bad == 1 ? worst : kEveryNode;
  };
  for (std::size_t i = 0; i < count; ++i) {
    auto const& point = diagnosis.points[i];
    auto const of = nodes_of(i);
    if (!is_slow(point) || of.empty()) continue;
    HealthFinding finding{point.grade,
                          FindingOf::Measurement,
                          fmt::format("{}, {}", point.result.what, exact_text(point.result.bytes)),
                          fmt::format("{:.2g} times as fast as predicted", point.speed),
                          {}};
    if (point.cause) {
      auto const& cause = diagnosis.causes[*point.cause].what;
      finding.text += "; " + cause.text;
      finding.check = cause.check;
    } else if (!point.remark.empty()) {
      finding.text += "; " + point.remark;
    }
    add_finding(health, culprit(of), std::move(finding));
  }
  health.figures += count;
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
