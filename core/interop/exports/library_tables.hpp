#pragma once
// What follows from a library's plans of all GPUs of a machine, size by size: a table for NCCL's tuner plugin, and
// limits that a healthy machine meets.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lanewise/model/model.hpp"
#include "lanewise/planner/libraries/library_name.hpp"

namespace lanewise {

// The configuration of NCCL's example tuner plugin (ext-tuner/example): for every size the algorithm and protocol of
// the library that take least time on this machine, of all its GPUs; its own choice unless another is faster by a
// tenth. Comments say where that is. Throws PlanError where the library does not run here.
std::string nccl_tuner_table(Model const& model, Library const& library);

// `lanewise: thresholds/1`: for each collective and size of nccl-tests, for host copies of each GPU and copies between
// each two as nvbandwidth makes them, the expected rate and the slow end of its 90 % range. Throws as above.
nlohmann::ordered_json thresholds_json(Model const& model, Library const& library);

// A table of times by op, number of GPUs and size, as CSV with the columns of aiconfigurator's nccl_perf.txt: sizes in
// elements of 2 B, times in ms. Of the first 2, 4, 8, ... GPUs; ops that the library does not do are left out. Throws
// as above.
std::string collective_times_csv(Model const& model, Library const& library);

}  // namespace lanewise
