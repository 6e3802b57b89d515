#pragma once
// A comparison of candidates as text, JSON and CSV.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/design/comparison.hpp"

namespace lanewise {

std::string design_text(DesignComparison const& all);
// Parts, cables, lanes, watts and prices of every candidate.
std::string bills_text(DesignComparison const& all);
// `lanewise: design_result/1`
nlohmann::ordered_json design_json(DesignComparison const& all);
// A row for each candidate and job.
std::string design_csv(DesignComparison const& all);

// What the failures of one machine cost, worst first.
std::string faults_text(FaultReport const& report, std::vector<DesignJob> const& jobs);
nlohmann::ordered_json faults_json(FaultReport const& report, std::vector<DesignJob> const& jobs);

}  // namespace lanewise
