#include "core/view/optimality.hpp"

#include <fmt/format.h>

#include "core/io/json.hpp"
#include "core/units/text.hpp"

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
                                     {"algorithm", to_string(named.collective.algorithm)}});
  if (!plan.collective) return;
  json["algorithm"] = to_string(plan.collective->algorithm);
  json["bus_bandwidth_GBps"] = gigabytes_per_second(bus_bandwidth(*plan.collective, makespan));
}

std::string collective_text(Plan const& plan, Seconds makespan) {
  std::string text;
  for (auto const& [id, one, first] : plan.collectives)
    text += fmt::format("{}: {} of {} among {} by {}\n", id, to_string(one.op), exact_text(one.bytes), one.among.size(),
                        to_string(one.algorithm));
  if (!plan.collective) return text;
  auto const& collective = *plan.collective;
  return fmt::format("{} of {} among {} by {}: {} steps, bus bandwidth {}\n", to_string(collective.op),
                     exact_text(collective.bytes), collective.among.size(), to_string(collective.algorithm),
                     plan.steps.size(), rounded_text(bus_bandwidth(collective, makespan)));
}

std::string optimality_text(Seconds makespan, std::optional<LowerBound> const& bound) {
  auto const text = fmt::format("makespan {}", rounded_text(makespan));
  if (!bound) return text + ", no bound: a transfer has no way of known cost";
  return fmt::format("{}, at least {} (gap {:.1f} %), held by {}", text, rounded_text(bound->makespan),
                     bound->gap(makespan) * 100, binding_text(*bound));
}

}  // namespace lanewise
