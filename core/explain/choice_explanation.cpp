#include "lanewise/explain/choice_explanation.hpp"

#include <fmt/format.h>

#include "core/io/json.hpp"
#include "core/machine/path_class.hpp"
#include "lanewise/plan/plan_json.hpp"

namespace lanewise {
namespace {

std::string distance_between(Machine const& machine, Request const& request) {
  auto const* from = std::get_if<PciId>(&request.from);
  auto const* to = std::get_if<PciId>(&request.to);
  if (from != nullptr && to != nullptr) {
    auto const links = nvlink_count(machine, *from, *to);
    auto const path = to_string(path_class(machine, *from, *to));
    return links > 0 ? fmt::format("{}, NV{}", path, links) : std::string(path);
  }
  if (from != nullptr) return std::string(to_string(path_class(machine, *from, std::get<NumaId>(request.to))));
  if (to != nullptr) return std::string(to_string(path_class(machine, *to, std::get<NumaId>(request.from))));
  return request.from == request.to ? "same memory" : "host memory";
}

}  // namespace

ChoiceExplanation explain_choice(Model const& model, Request const& request) {
  Planner const planner(model);
  auto const choice = planner.choose(request);
  ChoiceExplanation explanation{request, distance_between(model.machine(), request), {}, choice.chosen};
  Intervals const intervals(model);
  for (auto const& way : choice.evaluated) {
    explanation.candidates.push_back(planner.describe(request, way));
    auto& candidate = explanation.candidates.back();
    if (candidate.time) candidate.range = time_range(intervals, request, way.way);
  }
  return explanation;
}

nlohmann::ordered_json why_json(ChoiceExplanation const& explanation, Machine const& machine) {
  auto const& request = explanation.request;
  nlohmann::ordered_json json{{"lanewise", "why/1"},
                              {"machine", machine.name},
                              {"from", machine.name_of(request.from)},
                              {"to", machine.name_of(request.to)},
                              {"bytes", request.bytes.value()},
                              {"op", to_string(request.op)},
                              {"distance", explanation.distance}};
  json["chosen"] = explanation.chosen ? nlohmann::ordered_json(*explanation.chosen) : nlohmann::ordered_json(nullptr);
  json["candidates"] = nlohmann::ordered_json::array();
  for (auto const& candidate : explanation.candidates) json["candidates"].push_back(to_json(candidate, machine));
  return json;
}

}  // namespace lanewise
