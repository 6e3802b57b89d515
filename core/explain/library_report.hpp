#pragma once
// What a library does with collectives of all GPUs of a machine, beside what is possible.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/collective.hpp"
#include "lanewise/planner/libraries/library_name.hpp"

namespace lanewise {

struct LibraryRow {
  std::string machine;
  std::string library;  // with its version: "nccl-2.30"
  CollectiveOp op = CollectiveOp::AllReduce;
  Bytes bytes{0};
  std::string algorithm, protocol;  // in the library's words; empty: it does not do this op, `refused` says why
  std::string refused;
  Seconds time{0};                  // by the library, as estimated
  Seconds best{0};                  // by the best plan of our own
  BytesPerSecond bus_bandwidth{0};  // by the library
};

// All-reduce, all-gather, reduce-scatter, all-to-all and broadcast of `bytes`. Empty for fewer than two GPUs.
std::vector<LibraryRow> evaluate_library(Model const& model, Bytes bytes, Library const& library);

// `lanewise: library_report/1`
nlohmann::ordered_json library_report_json(std::vector<LibraryRow> const& rows);

}  // namespace lanewise
