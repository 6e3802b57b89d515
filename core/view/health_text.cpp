#include "core/view/health_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "core/text/table.hpp"

namespace lanewise {
namespace {

std::string findings_table(ClusterHealth const& health) {
  Table table({"node", "grade", "what", "finding"});
  for (auto const& node : health.nodes)
    for (auto const& finding : node.findings)
      table.add({node.host.empty() ? node.node : fmt::format("{} ({})", node.node, node.host),
                 std::string(to_string(finding.grade)), finding.subject, finding.text});
  return table.text() + "\n";
}

std::string checks(ClusterHealth const& health) {
  std::string text;
  for (auto const& node : health.nodes)
    for (auto const& finding : node.findings)
      if (!finding.check.empty()) text += fmt::format("check {} {}: {}\n", node.node, finding.subject, finding.check);
  return text;
}

// The same text of several nodes once.
std::string unread(ClusterHealth const& health) {
  std::map<std::string, std::vector<std::string>> nodes;
  for (auto const& node : health.nodes)
    for (auto const& what : node.unread) nodes[what].push_back(node.node);
  std::string text;
  for (auto const& [what, of] : nodes) text += fmt::format("not read on {}: {}\n", fmt::join(of, ", "), what);
  return text;
}

std::string counted(std::size_t count, char const* one, char const* more) {
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

}  // namespace

std::string health_text(ClusterHealth const& health) {
  std::size_t failures = 0;
  std::size_t warnings = 0;
  std::size_t nodes = 0;
  for (auto const& node : health.nodes) {
    failures += node.count(Grade::Fail);
    warnings += node.count(Grade::Warn);
    if (!node.host.empty()) ++nodes;
  }
  std::string text;
  if (!health.is_well()) text += findings_table(health) + checks(health);
  text += unread(health);
  text += health.not_measured.empty()
              ? fmt::format("{} between nodes measured\n", counted(health.figures, "figure", "figures"))
              : fmt::format("times were not judged: {}\n", health.not_measured);
  if (health.is_well() && health.figures == 0 && !health.not_measured.empty())
    return text + fmt::format("{} of {}: nothing differs\n", counted(nodes, "node", "nodes"), health.cluster);
  if (health.is_well())
    return text + fmt::format("{} of {}: nothing is wrong\n", counted(nodes, "node", "nodes"), health.cluster);
  return text + fmt::format("{} of {}: {}, {}\n", counted(nodes, "node", "nodes"), health.cluster,
                            counted(failures, "failure", "failures"), counted(warnings, "warning", "warnings"));
}

}  // namespace lanewise
