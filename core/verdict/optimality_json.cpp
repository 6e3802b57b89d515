#include "core/verdict/optimality_json.hpp"

#include <nlohmann/json.hpp>

#include "core/io/json.hpp"

namespace lanewise {

void add_optimality(nlohmann::ordered_json& json, Seconds makespan, std::optional<LowerBound> const& bound) {
  json["makespan_us"] = microseconds(makespan);
  if (!bound) return;
  json["bound_us"] = microseconds(bound->makespan);
  json["gap"] = bound->gap(makespan);
  json["binding"] = nlohmann::ordered_json::array();
  for (auto const& part : bound->binding) json["binding"].push_back({{"name", part.name}, {"share", part.share}});
}

void add_collective(nlohmann::ordered_json& json, Plan const& plan, Seconds makespan) {
  bool const said = json.contains("collectives");  // a plan's own JSON says them in full
  for (auto const& named : plan.collectives)
    if (!said)
      json["collectives"].push_back({{"id", named.id},
                                     {"op", to_string(named.collective.op)},
                                     {"bytes", named.collective.bytes.value()},
                                     {"algorithm", to_string(named.collective.algorithm)}});
  if (!plan.collective) return;
  if (plan.library)
    json["library"] = {{"library", plan.library->library},
                       {"algorithm", plan.library->algorithm},
                       {"protocol", plan.library->protocol},
                       {"channels", plan.library->channels},
                       {"remarks", plan.library->remarks}};
  json["algorithm"] = to_string(plan.collective->algorithm);
  json["bus_bandwidth_GBps"] = gigabytes_per_second(bus_bandwidth(*plan.collective, makespan));
}

}  // namespace lanewise
