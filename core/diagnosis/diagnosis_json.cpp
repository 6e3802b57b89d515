#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/diagnosis/diagnosis.hpp"
#include "core/io/json.hpp"
#include "core/machine/setting_value.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(Hypothesis const& hypothesis) {
  Json json{{"kind", to_string(hypothesis.kind)}, {"subject", hypothesis.subject}, {"text", hypothesis.text}};
  json["likewise"] = hypothesis.likewise;
  json["settings"] = Json::array();
  for (auto const& setting : hypothesis.settings) json["settings"].push_back(text_of(setting));
  json["check"] = hypothesis.check;
  return json;
}

Json json_of(GradedPoint const& point) {
  auto const& p = point.result;
  bool const rate = p.quantity == MeasuredQuantity::Bandwidth;
  auto const unit = rate ? "GBps" : "us";
  auto const scaled = [&](double value) {
    return rate ? gigabytes_per_second(BytesPerSecond(value)) : microseconds(Seconds(value));
  };
  Json json{{"series", p.series},
            {"transfer", p.what},
            {"quantity", to_string(p.quantity)},
            {"bytes", p.bytes.value()},
            {"grade", to_string(point.grade)}};
  json[fmt::format("measured_{}", unit)] = scaled(p.measured);
  json[fmt::format("predicted_{}", unit)] = p.predicted ? Json(scaled(*p.predicted)) : Json(nullptr);
  if (p.predicted) {
    json[fmt::format("interval_{}", unit)] = {scaled(p.interval.low), scaled(p.interval.high)};
    json["speed"] = point.speed;
  }
  if (!p.library.empty()) json["library"] = p.library;
  if (p.possible) json[fmt::format("possible_{}", unit)] = scaled(*p.possible);
  if (p.noise) json["noise"] = *p.noise;
  json["cause"] = point.cause ? Json(*point.cause) : Json(nullptr);
  if (!point.remark.empty()) json["remark"] = point.remark;
  json["line"] = p.pos.line;
  return json;
}

}  // namespace

nlohmann::ordered_json diagnosis_json(Diagnosis const& diagnosis) {
  Json json{{"lanewise", "judgement/1"},
            {"measurement", diagnosis.measurement},
            {"machine", diagnosis.machine},
            {"grade", to_string(diagnosis.worst())},
            {"pass", diagnosis.count(Grade::Pass)},
            {"warn", diagnosis.count(Grade::Warn)},
            {"fail", diagnosis.count(Grade::Fail)},
            {"left_out", diagnosis.left_out_count()}};
  json["left_out_because"] = Json::array();
  for (auto const& [why, figures] : diagnosis.left_out)
    json["left_out_because"].push_back({{"figures", figures}, {"why", why}});
  for (auto const* rows : {"causes", "points", "facts"}) json[rows] = Json::array();
  for (auto const& cause : diagnosis.causes) {
    auto item = json_of(cause.what);
    item["explained"] = cause.explained;
    item["refusals"] = cause.refusals;
    item["also"] = Json::array();
    for (auto const& other : cause.also) item["also"].push_back(json_of(other));
    json["causes"].push_back(std::move(item));
  }
  for (auto const& point : diagnosis.points) json["points"].push_back(json_of(point));
  for (auto const& fact : diagnosis.facts)
    json["facts"].push_back({{"what", fact.result.what},
                             {"grade", to_string(fact.grade)},
                             {"found", fact.result.found},
                             {"line", fact.result.pos.line}});
  return json;
}

}  // namespace lanewise
