#include "lanewise/explain/choice_explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/io/json.hpp"
#include "core/machine/node_split.hpp"
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

PairExplanation explain_pair(Machine machine, std::string const& from, std::string const& to, Bytes bytes, Op op) {
  std::array<Place, 2> const ends{machine.place(from), machine.place(to)};
  auto [nodes, places] = machine_of(std::move(machine), ends);
  Model const model(std::move(nodes));
  Request const request{.id = "why", .from = places[0], .to = places[1], .bytes = bytes, .op = op};
  return {explain_choice(model, request), model.machine()};
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
  json["rules"] = nlohmann::ordered_json::object();
  for (auto const* rule : rules_named(explanation))
    json["rules"][std::string(rule->id)] = {{"sentence", rule->sentence}, {"source", rule->source}};
  return json;
}

std::vector<Rule const*> rules_named(ChoiceExplanation const& explanation) {
  std::vector<Rule const*> rules;
  auto const add = [&](std::string const& id) {
    auto const* rule = find_rule(id);
    if (rule != nullptr && std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(rule);
  };
  for (auto const& candidate : explanation.candidates) {
    add(candidate.refused_by);
    for (auto const& id : candidate.remarks) add(id);
  }
  return rules;
}

}  // namespace lanewise
