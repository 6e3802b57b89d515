#include "lanewise/plan/trace.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/io/json.hpp"
#include "lanewise/machine/machine.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

void put_range(Json& json, char const* key, std::optional<TimeRange> const& range) {
  if (range) json[key] = {microseconds(range->low), microseconds(range->high)};
}
void put_noise(Json& json, char const* spread_key, std::optional<double> spread, char const* noise_key,
               std::optional<TimeRange> const& noise) {
  if (spread) json[spread_key] = *spread;
  put_range(json, noise_key, noise);
}
std::optional<double> number_at(Json const& json, char const* key) {
  return json.contains(key) ? std::optional(json.at(key).get<double>()) : std::nullopt;
}
std::optional<TimeRange> range_at(Json const& json, char const* key) {
  if (!json.contains(key)) return std::nullopt;
  return TimeRange{from_microseconds(json.at(key).at(0)), from_microseconds(json.at(key).at(1))};
}

bool crosses_nodes(Machine const& machine, Step const& step) {
  return machine.hosts.size() > 1 && machine.host_of(step.from) != machine.host_of(step.to);
}

}  // namespace

void describe_steps(Trace& trace, Plan const& plan, Machine const& machine) {
  for (std::size_t i = 0; i < trace.steps.size() && i < plan.steps.size(); ++i) {
    auto const& step = plan.steps[i];
    auto& described = trace.steps[i];
    described.from = machine.name_of(step.from);
    if (step.work > Seconds(0)) continue;  // it computes
    described.to = machine.name_of(step.to);
    described.mechanism = to_string(step.way.mechanism);
    if (!plan.collective) continue;
    described.phase =
        std::string(step.reduces ? "reduce" : "copy") + (crosses_nodes(machine, step) ? " between nodes" : "");
    if (step.writes) described.offset = step.writes->offset;
  }
}

nlohmann::ordered_json to_json(Trace const& trace) {
  nlohmann::ordered_json json{{"lanewise", kTraceSchemas.front()}, {"mode", trace.mode},
                              {"machine", trace.machine},          {"fingerprint", trace.fingerprint},
                              {"environment", trace.environment},  {"makespan_us", microseconds(trace.makespan)}};
  put_range(json, "makespan_interval_us", trace.range);
  put_noise(json, "makespan_spread", trace.spread, "makespan_noise_us", trace.noise);
  json["steps"] = nlohmann::ordered_json::array();
  for (auto const& step : trace.steps) {
    nlohmann::ordered_json item{{"transfer", step.transfer},
                                {"start_us", microseconds(step.start)},
                                {"end_us", microseconds(step.end)},
                                {"bytes", step.bytes.value()}};
    put_range(item, "duration_interval_us", step.range);
    item["bandwidth_GBps"] = gigabytes_per_second(step.rate());
    put_noise(item, "spread", step.spread, "noise_us", step.noise);
    item["verified"] = step.verified ? nlohmann::ordered_json(*step.verified) : nlohmann::ordered_json(nullptr);
    if (!step.mismatch.empty()) item["mismatch"] = step.mismatch;
    for (auto const& [key, label] :
         {std::pair("from", &StepTrace::from), std::pair("to", &StepTrace::to),
          std::pair("mechanism", &StepTrace::mechanism), std::pair("phase", &StepTrace::phase)})
      if (!(step.*label).empty()) item[key] = step.*label;
    if (step.offset) item["offset"] = step.offset->value();
    if (step.demand) item["demand"] = *step.demand;
    if (!step.engines.empty()) item["engines"] = step.engines;
    json["steps"].push_back(std::move(item));
  }
  json["resources"] = nlohmann::ordered_json::array();
  for (auto const& resource : trace.resources)
    json["resources"].push_back(
        {{"name", resource.name}, {"bytes", resource.bytes}, {"utilisation", resource.utilisation}});
  if (!trace.demands.empty()) json["demands"] = trace.demands;
  return json;
}

Trace trace_from_json(nlohmann::ordered_json const& json) {
  try {
    Trace trace;
    trace.mode = json.at("mode");
    trace.machine = json.at("machine");
    trace.fingerprint = json.at("fingerprint");
    trace.environment = json.at("environment").get<std::map<std::string, std::string>>();
    trace.makespan = from_microseconds(json.at("makespan_us"));
    trace.range = range_at(json, "makespan_interval_us");
    trace.spread = number_at(json, "makespan_spread");
    trace.noise = range_at(json, "makespan_noise_us");
    for (auto const& item : json.at("steps")) {
      StepTrace step;
      step.transfer = item.at("transfer");
      step.start = from_microseconds(item.at("start_us"));
      step.end = from_microseconds(item.at("end_us"));
      step.bytes = size_from(item.at("bytes"));
      step.range = range_at(item, "duration_interval_us");
      step.spread = number_at(item, "spread");
      step.noise = range_at(item, "noise_us");
      if (!item.at("verified").is_null()) step.verified = item.at("verified").get<bool>();
      step.mismatch = item.value("mismatch", std::string());
      step.from = item.value("from", std::string());
      step.to = item.value("to", std::string());
      step.mechanism = item.value("mechanism", std::string());
      step.phase = item.value("phase", std::string());
      if (item.contains("offset")) step.offset = size_from(item.at("offset"));
      if (item.contains("demand"))
        step.demand =
            static_cast<std::uint32_t>(whole_number(item.at("demand"), std::numeric_limits<std::uint32_t>::max()));
      if (item.contains("engines")) step.engines = item.at("engines").get<std::vector<std::string>>();
      trace.steps.push_back(std::move(step));
    }
    for (auto const& item : json.at("resources"))
      trace.resources.push_back({item.at("name"), item.at("bytes"), item.at("utilisation")});
    if (json.contains("demands")) trace.demands = json.at("demands").get<std::vector<std::map<std::string, double>>>();
    for (auto const& step : trace.steps)
      if (step.demand && *step.demand >= trace.demands.size())
        throw InputError(fmt::format("not a trace: a step has demand {} of {}", *step.demand, trace.demands.size()));
    return trace;
  } catch (nlohmann::ordered_json::exception const& error) {
    throw InputError("not a trace: " + reason_of(error));
  }
}

Trace read_trace(SourceText const& source) { return trace_from_json(parse_json(source, kTraceSchemas)); }

}  // namespace lanewise
