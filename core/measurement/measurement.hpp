#pragma once
// What someone measured on a machine: figures in the unit they were printed in, with where they are from and how they
// were taken. docs/measurements.md says how to write a file of one's own.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/io/file.hpp"
#include "core/io/yaml.hpp"
#include "core/machine/setting.hpp"
#include "core/planner/planner.hpp"
#include "core/units/text.hpp"

namespace lanewise {

// Makespan: the time from the common release of all flows of a point to the end of the last.
enum class MeasuredQuantity : std::uint8_t { Bandwidth, Latency, Makespan };
std::string_view to_string(MeasuredQuantity quantity);  // bandwidth, latency, makespan
Parsed<MeasuredQuantity> parse_measured_quantity(std::string_view text);

struct MeasuredFlow {
  std::string from, to;
  Bytes bytes{0};  // 0: as many as the point says
  friend bool operator==(MeasuredFlow const&, MeasuredFlow const&) = default;
};

// One printed figure: of one transfer, or of several at once (their total).
struct MeasuredPoint {
  std::vector<MeasuredFlow> flows;
  Bytes bytes{0};  // of each flow that does not say its own
  Access access = {};
  double value = 0;                   // bytes per second, or seconds
  std::optional<double> spread = {};  // of the repetitions: (p95 - p5) / median
  SourcePos pos = {};

  [[nodiscard]] Bytes bytes_of(MeasuredFlow const& flow) const { return flow.bytes > Bytes(0) ? flow.bytes : bytes; }
  friend bool operator==(MeasuredPoint const&, MeasuredPoint const&) = default;
};

// Figures taken in the same way.
struct MeasuredSeries {
  std::string name;
  MeasuredQuantity quantity = MeasuredQuantity::Bandwidth;
  Op op = Op::Copy;
  std::optional<Mechanism> mechanism = {};  // how the benchmark went; absent: as the planner would
  bool by_driver = false;                   // host_staged: CUDA's own
  Access access = {};                       // of every point; a sweep may vary it
  bool pageable = false;                    // host memory that is not pinned
  int queue_pairs = 0;                      // of RDMA; 0: as many as the NIC needs
  int cores = 0;                            // that copy between host memories at once; 0: one
  bool pulled = false;                      // peer access driven by the destination
  bool pipelined = false;                   // many transfers in flight: their starts are hidden
  bool of_first = false;                    // a point's figure is that of its first flow while the others run
  std::vector<Setting> settings = {};
  std::string doubtful = {};  // why it is left out of the gate; empty: it is not
  std::vector<MeasuredPoint> points = {};
  SourcePos pos = {};
  friend bool operator==(MeasuredSeries const&, MeasuredSeries const&) = default;
};

// Something that was seen to be possible, refused, chosen or faster.
struct MeasuredFact {
  MeasuredFlow flow;
  Bytes bytes{0};
  Op op = Op::Copy;
  std::optional<Mechanism> mechanism;  // with `legal`
  bool legal = true;
  std::optional<Mechanism> chosen;          // which way the system took
  std::optional<Mechanism> faster, slower;  // both were measured
  bool by_driver = false;                   // staged forms: CUDA's own
  std::vector<Setting> settings;
  std::string doubtful;
  SourcePos pos;
  friend bool operator==(MeasuredFact const&, MeasuredFact const&) = default;
};

// A figure of a part that was read from this very measurement: the model has to do without it here.
struct Withheld {
  std::string part;
  std::string key;
  std::string instead;  // what other machines give; empty: the model's own default
  SourcePos pos;
  friend bool operator==(Withheld const&, Withheld const&) = default;
};

struct Measurement {
  std::string name;
  std::string title;
  std::string machine;
  std::string source;
  std::string date;
  std::string method;
  std::string grade;  // A, B or C
  std::string doubtful;
  std::vector<std::string> notes;
  std::map<std::string, std::string> environment;  // driver, runtime, gpu, clocks, ...: what a later run is compared by
  std::vector<Withheld> withheld;
  std::vector<Setting> settings;
  std::vector<MeasuredSeries> series;
  std::vector<MeasuredFact> facts;
  SourcePos pos;
  friend bool operator==(Measurement const&, Measurement const&) = default;
};

MapSpec const& measurement_spec();
MapSpec const& measured_flow_spec();  // {from, to, bytes}, in `together`
// Reads `lanewise: measurement/1`. Throws InputError with everything that is wrong.
Measurement read_measurement(SourceText const& source);

}  // namespace lanewise
