#pragma once
// The traffic of a workload, and the step that it makes on a machine, as text and JSON.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/workload/step_time.hpp"

namespace lanewise {

// Who does what, how large and how often: no machine is needed.
std::string traffic_text(Workload const& workload, std::vector<TrafficPattern> const& traffic);
nlohmann::ordered_json traffic_json(Workload const& workload, std::vector<TrafficPattern> const& traffic);

// `library`: that plans the collectives; "best".
std::string step_text(Workload const& workload, StepTime const& step, std::string const& machine,
                      std::string const& library);
nlohmann::ordered_json step_json(Workload const& workload, StepTime const& step);

}  // namespace lanewise
