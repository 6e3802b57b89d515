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

std::string optimality_text(Seconds makespan, std::optional<LowerBound> const& bound) {
  auto const text = fmt::format("makespan {}", rounded_text(makespan));
  if (!bound) return text + ", no bound: a transfer has no way of known cost";
  return fmt::format("{}, at least {} (gap {:.1f} %), held by {}", text, rounded_text(bound->makespan),
                     bound->gap(makespan) * 100, binding_text(*bound));
}

}  // namespace lanewise
