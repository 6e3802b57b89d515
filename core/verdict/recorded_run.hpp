#pragma once
// Runs on hardware as a file, so that they can be judged on another machine.
#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/io/file.hpp"
#include "lanewise/verdict/verdict.hpp"

namespace lanewise {

struct RecordedRun {
  std::string scenario;
  std::string variant;
  Trace trace;
  std::vector<Regret> regrets;
  Seconds real_time{0};  // that it took; 0 in older files, which do not say
};

// What can be read; the first is what is written. runs/1 has no rivals: each alternative ran by itself, once.
inline constexpr std::array<std::string_view, 2> kRunsSchemas{"runs/2", "runs/1"};
// A run for each variant that ran.
nlohmann::ordered_json recorded_runs_json(std::vector<ScenarioVerdict> const& verdicts);
// Throws InputError if the file is none of these.
std::vector<RecordedRun> read_recorded_runs(SourceText const& source);
// Throws InputError if the JSON is not such a file.
std::vector<RecordedRun> recorded_runs_from_json(nlohmann::ordered_json const& json);

// The recorded run of this plan. Throws PlanError if there is none, or only one of another plan, machine or settings.
RecordedRun const& recorded_run(std::vector<RecordedRun> const& runs, std::string const& scenario,
                                std::string const& variant, Plan const& plan);

}  // namespace lanewise
