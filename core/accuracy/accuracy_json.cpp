#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/accuracy/accuracy.hpp"
#include "core/io/json.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

Json errors(ErrorSummary const& e) {
  return {{"points", e.points},
          {"median_error", number_or_null(e.median)},
          {"p95_error", number_or_null(e.p95)},
          {"worst_error", number_or_null(e.worst)}};
}

Json class_json(AccuracyClass const& one) {
  return {{"at_once", to_string(one.at_once)},
          {"times", errors(one.times)},
          {"latency", errors(one.latency)},
          {"interval_coverage", one.interval_coverage}};
}

Json summary_json(AccuracySummary const& s) {
  return {{"legality_agreement", number_or_null(s.legality_agreement)},
          {"judged", s.counted},
          {"bandwidth", errors(s.bandwidth)},
          {"latency", errors(s.latency)},
          {"makespan", errors(s.makespan)},
          {"collective", errors(s.collective)},
          {"collective_coverage", number_or_null(s.collective_coverage)},
          {"near_change", errors(s.near_change)},
          {"noise", Json{{"points", s.noise.points},
                         {"median", number_or_null(s.noise.median)},
                         {"p95", number_or_null(s.noise.p95)}}},
          {"within_noise", s.within_noise},
          {"fitted", errors(s.fitted)},
          {"interval_coverage", number_or_null(s.interval_coverage)},
          {"left_out", s.left_out},
          {"unpredicted", s.unpredicted}};
}

Json point_json(PointResult const& p) {
  bool const rate = p.quantity == MeasuredQuantity::Bandwidth;
  auto const unit = rate ? "GBps" : "us";
  auto const scaled = [&](double value) {
    return rate ? gigabytes_per_second(BytesPerSecond(value)) : microseconds(Seconds(value));
  };
  Json json{{"series", p.series},       {"transfer", p.what},
            {"group", p.group},         {"quantity", to_string(p.quantity)},
            {"bytes", p.bytes.value()}, {fmt::format("measured_{}", unit), scaled(p.measured)}};
  auto const predicted = fmt::format("predicted_{}", unit);
  json[predicted] = p.predicted ? Json(scaled(*p.predicted)) : Json(nullptr);
  if (p.predicted) {
    json[fmt::format("interval_{}", unit)] = {scaled(p.interval.low), scaled(p.interval.high)};
    json["error"] = *p.error();
    json["in_interval"] = p.interval.holds(p.measured);
  }
  if (p.noise) {
    json["noise"] = *p.noise;
    json["within_noise"] = p.within_noise();
  }
  json["binding"] = p.binding;
  if (p.at_once == AtOnce::Collective) json["near_change"] = p.near_change;
  json["legal"] = p.legal;
  json["in_gate"] = p.in_gate();
  if (!p.doubtful.empty()) json["doubtful"] = p.doubtful;
  if (p.fitted) json["fitted"] = true;
  json["line"] = p.pos.line;
  return json;
}

}  // namespace

nlohmann::ordered_json accuracy_json(std::vector<MeasurementResult> const& results) {
  Json json{{"lanewise", "accuracy/1"}, {"summary", summary_json(summarise(results))}};
  for (auto const at_once : kEachAtOnce)
    json["at_once"].push_back(class_json(accuracy_of(results, at_once, [](GpuGeneration) { return true; })));
  for (auto const& one : accuracy_classes(results)) {
    json["classes"].push_back({{"generation", to_string(one.generation)}});
    json["classes"].back().update(class_json(one));
  }
  for (auto const* rows : {"files", "points", "facts"}) json[rows] = Json::array();
  for (auto const& result : results) {
    Json file{{"measurement", result.name},
              {"machine", result.machine},
              {"grade", result.grade},
              {"source", result.source},
              {"summary", summary_json(summarise({result}))}};
    if (!result.doubtful.empty()) file["doubtful"] = result.doubtful;
    json["files"].push_back(std::move(file));
    for (auto const& point : result.points) {
      Json row{{"measurement", result.name}};
      row.update(point_json(point));
      json["points"].push_back(std::move(row));
    }
    for (auto const& fact : result.facts)
      json["facts"].push_back({{"measurement", result.name},
                               {"what", fact.what},
                               {"agrees", fact.agrees},
                               {"found", fact.found},
                               {"in_gate", fact.in_gate()},
                               {"line", fact.pos.line}});
  }
  return json;
}

}  // namespace lanewise
