#pragma once
// Writes verdicts as JUnit XML, which CI systems show.
#include <string>
#include <vector>

#include "core/diagnosis/cluster_health.hpp"
#include "core/verdict/baseline.hpp"
#include "lanewise/verdict/scenario_check.hpp"

namespace lanewise {

// Each scenario becomes a suite, each run, expectation and error a test case with its file and line. `time` is the real
// time that the run took here; the makespan is in its output. The type of a failure is the id of the legality rule that
// explains it, or else the key of the expectation. A comparison becomes a suite with a case for each change.
std::string junit_xml(std::vector<ScenarioVerdict> const& verdicts, BaselineComparison const* comparison = nullptr);
// A suite of a cluster's health, with a test case for each node, which a finding that fails lets fail.
std::string junit_xml(ClusterHealth const& health);

}  // namespace lanewise
