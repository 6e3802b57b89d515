#pragma once
// A trace: when each step of a plan ran, how busy each resource was, and in which environment.
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/time_range.hpp"
#include "core/units/quantity.hpp"

namespace lanewise {

struct StepTrace {
  std::string transfer;
  Seconds start{0};
  Seconds end{0};
  Bytes bytes{0};
  std::optional<bool> verified;         // absent: nothing was moved (simulation)
  std::optional<TimeRange> range = {};  // of the duration; only of predictions that were asked for it
  std::optional<double> spread = {};    // of measured durations over repetitions, as a share of their median
  std::string mismatch = {};            // where `verified` is false: the first wrong byte
  [[nodiscard]] Seconds duration() const { return end - start; }
  [[nodiscard]] BytesPerSecond rate() const { return bytes / duration(); }
  friend bool operator==(StepTrace const&, StepTrace const&) = default;
};

struct ResourceTrace {
  std::string name;
  double bytes = 0;        // weighted: what the resource carried
  double utilisation = 0;  // of its capacity over the makespan, 0..1
  friend bool operator==(ResourceTrace const&, ResourceTrace const&) = default;
};

struct Trace {
  std::string mode;  // "sim", "estimate" or "hw"
  std::string machine;
  std::string fingerprint;
  std::map<std::string, std::string> environment;  // executor version, settings, host
  std::vector<StepTrace> steps;                    // as in the plan
  std::vector<ResourceTrace> resources;            // those that carried anything, busiest first
  Seconds makespan{0};
  std::optional<TimeRange> range = {};  // of the makespan; only of predictions that were asked for it
  friend bool operator==(Trace const&, Trace const&) = default;
};

// `lanewise: trace/1`; times in microseconds, rates in GB/s. Reading throws InputError when the JSON is not a trace.
nlohmann::ordered_json to_json(Trace const& trace);
Trace trace_from_json(nlohmann::ordered_json const& json);

}  // namespace lanewise
