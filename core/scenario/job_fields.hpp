#pragma once
// Collectives and computing as a scenario's file says them.
#include <string>
#include <vector>

#include "core/io/yaml.hpp"
#include "core/plan/collective.hpp"
#include "core/planner/compute.hpp"

namespace lanewise {

struct CollectiveSpec {
  std::string id;  // empty: the only one, and nothing beside it
  CollectiveOp op = CollectiveOp::AllReduce;
  std::vector<std::string> among;  // names of places, ranges expanded
  Bytes bytes{0};
  Algorithm algorithm = Algorithm::Auto;
  std::string root;                            // empty: the first
  std::vector<std::vector<Bytes>> sizes = {};  // of all_to_all_v
  std::size_t pieces = 0;                      // of a chain; 0: as many as are fastest
  std::vector<std::string> after = {};         // ids
  friend bool operator==(CollectiveSpec const&, CollectiveSpec const&) = default;
};

struct ComputeSpec {
  std::string id;
  std::vector<std::string> on;  // names of GPUs, ranges expanded
  Seconds time{0};              // 0: by the roofline of flop and bytes
  Flop flop{0};
  Precision precision = Precision::Fp32;
  Bytes bytes{0};
  std::vector<std::string> after;
  friend bool operator==(ComputeSpec const&, ComputeSpec const&) = default;
};

MapSpec const& collective_spec();        // alone: under `collective`
MapSpec const& named_collective_spec();  // one of `collectives`
MapSpec const& compute_spec();

CollectiveSpec read_collective(MapReader& reader);
ComputeSpec read_compute(MapReader& reader);

}  // namespace lanewise
