#include "core/verdict/rival_json.hpp"

#include "core/io/json.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

Json interval_json(ConfidenceInterval const& interval) {
  return interval.is_bounded() ? Json{interval.low, interval.high} : Json(nullptr);
}
ConfidenceInterval interval_from(Json const& json) {
  return json.is_null() ? ConfidenceInterval{} : ConfidenceInterval{json.at(0), json.at(1)};
}

}  // namespace

nlohmann::ordered_json to_json(RivalResult const& rival) {
  Json json{{"way", rival.way},
            {"standing", to_string(rival.standing())},
            {"rounds", rival.rounds},
            {"makespan_us", microseconds(rival.makespan)},
            {"makespan_ratio", rival.makespan_ratio.value},
            {"makespan_ratio_interval", interval_json(rival.makespan_ratio.interval)}};
  if (rival.end_ratio) {
    json["end_ratio"] = rival.end_ratio->value;
    json["end_ratio_interval"] = interval_json(rival.end_ratio->interval);
  }
  return json;
}

RivalResult rival_from_json(nlohmann::ordered_json const& json) {
  RivalResult rival;
  rival.way = json.at("way");
  rival.rounds = static_cast<std::size_t>(whole_number(json.at("rounds"), kMaxRounds));
  rival.makespan = from_microseconds(json.at("makespan_us"));
  rival.makespan_ratio = {json.at("makespan_ratio"), interval_from(json.at("makespan_ratio_interval"))};
  if (json.contains("end_ratio"))
    rival.end_ratio = TimeRatio{json.at("end_ratio"), interval_from(json.at("end_ratio_interval"))};
  return rival;
}

}  // namespace lanewise
