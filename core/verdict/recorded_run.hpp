#pragma once
// Runs on hardware as a file, so that they can be judged where the hardware is not: `lanewise: runs/1`.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/verdict/scenario_check.hpp"

namespace lanewise {

struct RecordedRun {
  std::string scenario;
  std::string variant;
  Trace trace;
  std::vector<Regret> regrets;
};

// Of every variant that ran.
nlohmann::ordered_json recorded_runs_json(std::vector<ScenarioVerdict> const& verdicts);
// Throws InputError when the JSON is no such file.
std::vector<RecordedRun> recorded_runs_from_json(nlohmann::ordered_json const& json);

// The run of a plan in the file. Throws PlanError when there is none, or it was made of another plan, machine or
// settings.
RecordedRun const& recorded_run(std::vector<RecordedRun> const& runs, std::string const& scenario,
                                std::string const& variant, Plan const& plan);

}  // namespace lanewise
