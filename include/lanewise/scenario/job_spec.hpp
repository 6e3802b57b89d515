#pragma once
// Collectives and computation as a scenario file states them.
#include <optional>
#include <string>
#include <vector>

#include "lanewise/plan/collective.hpp"
#include "lanewise/planner/compute.hpp"
#include "lanewise/planner/libraries/library_name.hpp"

namespace lanewise {

// Instead of participants: every GPU of the machine that works, in its own order.
inline constexpr char kAllGpus[] = "all_gpus";

struct CollectiveSpec {
  std::string id;  // empty: the scenario is this one collective
  CollectiveOp op = CollectiveOp::AllReduce;
  std::vector<std::string> among;  // participants by name, ranges expanded
  Bytes bytes{0};
  Algorithm algorithm = Algorithm::Auto;
  std::string root;                            // empty: the first participant
  std::vector<std::vector<Bytes>> sizes = {};  // all_to_all_v only: [from][to]
  std::size_t pieces = 0;                      // of a chain; 0: the fastest number
  std::vector<std::string> after = {};         // ids of jobs that must have finished
  std::optional<Library> library = {};         // plan it as this library would; absent: as well as possible
  friend bool operator==(CollectiveSpec const&, CollectiveSpec const&) = default;
};

struct ComputeSpec {
  std::string id;
  std::vector<std::string> on;  // names of GPUs, ranges expanded
  Seconds time{0};              // 0: by the roofline model (Williams et al. 2009) from flop and bytes
  Flop flop{0};
  Precision precision = Precision::Fp32;
  Bytes bytes{0};
  std::vector<std::string> after;
  friend bool operator==(ComputeSpec const&, ComputeSpec const&) = default;
};

}  // namespace lanewise
