#include "core/explain/library_report.hpp"

#include <nlohmann/json.hpp>

#include "core/io/json.hpp"
#include "core/planner/libraries/steps/library_steps.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"
#include "lanewise/planner/libraries/library.hpp"

namespace lanewise {

std::vector<LibraryRow> evaluate_library(Model const& model, Bytes bytes, Library const& library) {
  auto const& machine = model.machine();
  std::vector<LibraryRow> rows;
  auto collective = collective_of_all(machine, CollectiveOp::AllReduce, bytes);
  if (collective.among.size() < 2) return rows;
  for (auto const op : {CollectiveOp::AllReduce, CollectiveOp::AllGather, CollectiveOp::ReduceScatter,
                        CollectiveOp::AllToAll, CollectiveOp::Broadcast}) {
    collective.op = op;
    auto& row = rows.emplace_back();
    row.machine = machine.name;
    row.library = to_string(library);
    row.op = op;
    row.bytes = bytes;
    try {
      auto const best = plan_collective(model, collective);
      row.best = estimate(model, best.steps, best.folding).makespan;
      auto const plan = plan_by_library(model, collective, library);
      row.library = plan.library->library;  // the engine's kernels leave much to NCCL
      row.algorithm = plan.library->algorithm;
      row.protocol = plan.library->protocol;
      row.time = estimate(model, plan.steps).makespan;
      row.bus_bandwidth = bus_bandwidth(collective, row.time);
    } catch (PlanError const& error) {
      row.refused = error.what();
    }
  }
  return rows;
}

nlohmann::ordered_json library_report_json(std::vector<LibraryRow> const& rows) {
  nlohmann::ordered_json json{{"lanewise", "library_report/1"}};
  json["collectives"] = nlohmann::ordered_json::array();
  for (auto const& row : rows) {
    nlohmann::ordered_json one{
        {"machine", row.machine}, {"op", to_string(row.op)}, {"bytes", row.bytes.value()}, {"library", row.library}};
    if (row.refused.empty()) {
      one["algorithm"] = row.algorithm;
      one["protocol"] = row.protocol;
      one["time_us"] = microseconds(row.time);
      one["bus_bandwidth_GBps"] = gigabytes_per_second(row.bus_bandwidth);
    } else {
      one["refused"] = row.refused;
    }
    if (row.best > Seconds(0)) one["best_us"] = microseconds(row.best);
    json["collectives"].push_back(std::move(one));
  }
  return json;
}

}  // namespace lanewise
