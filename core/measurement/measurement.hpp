#pragma once
// What someone measured on a machine, with its source and method. docs/measurements.md explains the file format.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/io/yaml.hpp"
#include "core/measurement/program.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/setting.hpp"
#include "lanewise/plan/collective.hpp"
#include "lanewise/planner/libraries/library_name.hpp"
#include "lanewise/planner/planner.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

// Makespan: the time from the common start of all flows of a point to the end of the last one.
enum class MeasuredQuantity : std::uint8_t { Bandwidth, Latency, Makespan };
std::string_view to_string(MeasuredQuantity quantity);  // bandwidth, latency, makespan
Parsed<MeasuredQuantity> parse_measured_quantity(std::string_view text);

struct MeasuredFlow {
  std::string from, to;
  Bytes bytes{0};                      // 0: as many as the point states
  std::vector<std::string> nics = {};  // of the source's node and of the target's; empty: any
  friend bool operator==(MeasuredFlow const&, MeasuredFlow const&) = default;
};

// One measured figure: of one transfer, the total of several at once, or of a collective.
struct MeasuredPoint {
  std::vector<MeasuredFlow> flows;
  Bytes bytes{0};  // of each flow that does not state its own
  Access access = {};
  double value = 0;                   // bytes per second, or seconds
  std::optional<double> spread = {};  // of the repetitions: (95th - 5th percentile) / median
  SourcePos pos = {};
  std::optional<double> noise = {};  // of the median: half its 95 % confidence interval / median

  [[nodiscard]] Bytes bytes_of(MeasuredFlow const& flow) const { return flow.bytes > Bytes(0) ? flow.bytes : bytes; }
  friend bool operator==(MeasuredPoint const&, MeasuredPoint const&) = default;
};

// What the figure of a collective counts (nccl-tests, doc/PERFORMANCE.md).
enum class CollectiveFigure : std::uint8_t { BusBandwidth, AlgorithmBandwidth, Time };
std::string_view to_string(CollectiveFigure figure);  // bus_bandwidth, algorithm_bandwidth, time
Parsed<CollectiveFigure> parse_collective_figure(std::string_view text);

// A collective that a library ran; the points have its sizes, as nccl-tests counts them, and no flows.
struct MeasuredCollective {
  CollectiveOp op = CollectiveOp::AllReduce;
  std::vector<std::string> among;
  Library library;
  CollectiveFigure figure = CollectiveFigure::BusBandwidth;
  std::size_t root = 0;  // position in `among`
  int cleared = 0;       // before the exchange each GPU clears its own memory: so many times the size
  friend bool operator==(MeasuredCollective const&, MeasuredCollective const&) = default;
};

// Figures that were measured in the same way.
struct MeasuredSeries {
  std::string name;
  MeasuredQuantity quantity = MeasuredQuantity::Bandwidth;
  Op op = Op::Copy;
  std::optional<Mechanism> mechanism = {};      // the mechanism of the benchmark; absent: the planner's choice
  bool by_driver = false;                       // host_staged: CUDA's own
  Access access = {};                           // pattern of device DMA, for every point; a sweep may vary it
  bool pageable = false;                        // host memory is not pinned
  int queue_pairs = 0;                          // RDMA only; 0: as many as saturate the NIC
  int cores = 0;                                // CPU cores that copy between host memories; 0: one
  bool pulled = false;                          // the destination drives the peer access
  bool pipelined = false;                       // many transfers in flight hide the time to start
  bool of_first = false;                        // the figure is of the first flow only, while the others run
  std::optional<MeasuredProgram> program = {};  // how several transfers were issued and timed
  std::optional<MeasuredCollective> collective = {};
  std::vector<Setting> settings = {};
  std::string doubtful = {};  // why it does not count in the accuracy summary; empty: it counts
  std::vector<MeasuredPoint> points = {};
  SourcePos pos = {};
  friend bool operator==(MeasuredSeries const&, MeasuredSeries const&) = default;
};

// An observation without a figure: a mechanism is possible, refused, chosen or faster than another.
struct MeasuredFact {
  MeasuredFlow flow;
  Bytes bytes{0};
  Op op = Op::Copy;
  std::optional<Mechanism> mechanism;  // with `legal`
  bool legal = true;
  std::optional<Mechanism> chosen;          // the mechanism that the system chose
  std::optional<Mechanism> faster, slower;  // both were measured
  bool by_driver = false;                   // host_staged: CUDA's own staging
  std::vector<Setting> settings;
  std::string doubtful;
  SourcePos pos;
  friend bool operator==(MeasuredFact const&, MeasuredFact const&) = default;
};

// A figure of a part that comes from this measurement: predicting the measurement with it would prove nothing.
struct Withheld {
  std::string part;
  std::string key;
  std::string instead;  // value from other machines; empty: the model's default
  SourcePos pos;
  friend bool operator==(Withheld const&, Withheld const&) = default;
};

// A transfer that was measured again and again while all else was: how far the machine itself drifted meanwhile.
struct SessionNoise {
  MeasuredFlow flow;
  int samples = 0;
  double spread = 0;  // of the samples: (95th - 5th percentile) / median
  SourcePos pos = {};
  friend bool operator==(SessionNoise const&, SessionNoise const&) = default;
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
  std::map<std::string, std::string> environment;  // driver, runtime, GPU, clocks, ...
  std::vector<SessionNoise> noise;
  std::vector<Withheld> withheld;
  std::vector<Setting> settings;
  std::vector<MeasuredSeries> series;
  std::vector<MeasuredFact> facts;
  SourcePos pos;
  friend bool operator==(Measurement const&, Measurement const&) = default;
};

MapSpec const& measurement_spec();
MapSpec const& measured_flow_spec();  // {from, to, bytes, nics}, in `together`
MapSpec const& all_flows_spec();      // {all_to_all: [gpu0..gpu7]}, in `together`
// Reads `lanewise: measurement/1`. Throws InputError listing every problem.
Measurement read_measurement(SourceText const& source);

}  // namespace lanewise
