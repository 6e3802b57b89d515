#pragma once
// A trace: when each step of a plan ran, how busy each resource was, and in which environment.
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/io/file.hpp"
#include "lanewise/plan/time_range.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise {

struct Machine;
struct Plan;

struct StepTrace {
  std::string transfer;
  Seconds start{0};
  Seconds end{0};
  Bytes bytes{0};
  std::optional<bool> verified;         // absent: nothing was moved (simulation)
  std::optional<TimeRange> range = {};  // of the duration; only of predictions that were asked for it
  std::optional<double> spread = {};    // of measured durations over repetitions, as a share of their median
  std::optional<TimeRange> noise = {};  // of a measured duration: 95 % confidence interval of its median
  std::string mismatch = {};            // where `verified` is false: the first wrong byte
  // What describe_steps() says of it; empty: nothing did.
  std::string from = {}, to = {}, mechanism = {};
  std::string phase = {};            // of a collective: "reduce", "copy between nodes"
  std::optional<Bytes> offset = {};  // of a collective: where in the target's buffer its bytes begin
  // What describe_demands() says of it: its place in Trace::demands, and the engines that it holds.
  std::optional<std::uint32_t> demand = {};
  std::vector<std::string> engines = {};
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
  // What a byte of a step takes of resources, by their names; steps that take the same share one. Empty: not described.
  std::vector<std::map<std::string, double>> demands = {};
  Seconds makespan{0};
  std::optional<TimeRange> range = {};  // of the makespan; only of predictions that were asked for it
  std::optional<double> spread = {};    // of the makespan, as a step's
  std::optional<TimeRange> noise = {};  // of the makespan, as a step's
  friend bool operator==(Trace const&, Trace const&) = default;
};

// Transfers whose repetitions differ by more than this are named.
inline constexpr double kNoisySpread = 0.05;

// What can be read; the first is what is written. trace/1 has no noise, and no spread of the makespan.
inline constexpr std::array<std::string_view, 2> kTraceSchemas{"trace/2", "trace/1"};
// Says of each step of a trace of this plan between which places it goes, and of a collective in which phase, and where
// in the data.
void describe_steps(Trace& trace, Plan const& plan, Machine const& machine);

// Times in microseconds, rates in GB/s. Reading throws InputError when the file or the JSON is not a trace.
nlohmann::ordered_json to_json(Trace const& trace);
Trace trace_from_json(nlohmann::ordered_json const& json);
Trace read_trace(SourceText const& source);

}  // namespace lanewise
