#pragma once
// What is wrong with the nodes of a cluster: each node as it describes itself, compared with what it should be and with
// the others, and figures measured between nodes. `lanewise doctor` prints it.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/diagnosis/diagnosis.hpp"
#include "core/machine/comparison/machine_comparison.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// A node as its own process found it.
struct NodeReport {
  std::string host;                        // its name in the system
  Machine machine;                         // as discovered
  std::vector<std::string> disagreements;  // between sources on the node: "nic0: runs at gen3 x8, could gen4 x16"
  std::vector<std::string> unread;         // what could not be read, and why: "ACS: root is needed"
  std::vector<ExpectedDifference> unsaid;  // differences that no source of this node could have shown
};

enum class FindingOf : std::uint8_t {
  Node,         // the node disagrees with itself
  Others,       // it differs from most of the nodes that the file describes alike
  Description,  // it differs from the cluster's file
  Measurement   // it is slower than it should be, or delivers wrong bytes
};
std::string_view to_string(FindingOf of);  // node, others, description, measurement

struct HealthFinding {
  Grade grade = Grade::Warn;  // fail: devices, links, ACS, IOMMU, NUMA, NVLink, figures that fail; else warn
  FindingOf of = FindingOf::Node;
  std::string subject;  // "gpu3", "node0/gpu0 > node1/gpu0, 16 MiB"
  std::string text;     // "link: gen4 x8 instead of gen4 x16"
  std::string check;    // how to check it; empty: the text says it
  friend bool operator==(HealthFinding const&, HealthFinding const&) = default;
};

struct NodeHealth {
  std::string node;  // in the cluster's file
  std::string host;
  std::vector<HealthFinding> findings;  // worst first
  std::vector<std::string> unread;
  [[nodiscard]] std::size_t count(Grade grade) const;
};

struct ClusterHealth {
  std::string cluster;
  std::vector<NodeHealth> nodes;       // worst first, else in their order
  std::size_t figures = 0;             // that were measured
  std::string not_measured;            // why no times were judged; empty: they were
  [[nodiscard]] bool is_well() const;  // no node has a finding
};

// The reports are by node of the cluster. Throws std::invalid_argument if there are not as many.
// What all nodes have is a finding of the first entry, kEveryNode.
ClusterHealth examine_nodes(Machine const& cluster, std::vector<NodeReport> const& reports);
// Adds what was measured: a slow figure is a finding of the node whose transfers are slow more often than those of the
// others that took part, or of kEveryNode.
void add_figures(Diagnosis const& diagnosis, Measurement const& measurement, ClusterHealth& health);
inline constexpr auto kEveryNode = "every node";
// Adds a finding to a node or to kEveryNode, and sorts.
void add_finding(ClusterHealth& health, std::string const& node, HealthFinding finding);

// `lanewise: health/1`
nlohmann::ordered_json health_json(ClusterHealth const& health);
}  // namespace lanewise
