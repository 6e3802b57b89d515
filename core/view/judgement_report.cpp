#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/diagnosis/judgement.hpp"
#include "core/io/json.hpp"
#include "core/text/table.hpp"
#include "core/units/text.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kMaxFiguresShown = 40;  // of the table for people; the JSON has all

std::string shown(PointResult const& p, double value) {
  return p.quantity == MeasuredQuantity::Bandwidth ? rounded_text(BytesPerSecond(value)) : rounded_text(Seconds(value));
}

std::string settings_text(std::vector<Setting> const& settings) {
  std::vector<std::string> texts;
  for (auto const& setting : settings) {
    auto const text = fmt::format("{}={}", setting.key, setting.value);
    bool const spaced = text.find(' ') != std::string::npos;
    texts.push_back(spaced ? fmt::format("--set \"{}\"", text) : fmt::format("--set {}", text));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string text_of(Cause const& cause) {
  auto text = cause.what.text;
  if (!cause.what.likewise.empty())
    text += fmt::format(" ({} would carry as much)", fmt::join(cause.what.likewise, ", "));
  return text;
}

std::string series_rows(Judgement const& judgement) {
  struct Counts {
    std::size_t pass = 0, warn = 0, fail = 0;
  };
  std::vector<std::pair<std::string, Counts>> rows;
  for (auto const& point : judgement.points) {
    auto found = std::find_if(rows.begin(), rows.end(), [&](auto const& r) { return r.first == point.result.series; });
    if (found == rows.end()) found = rows.insert(rows.end(), {point.result.series, {}});
    auto& counts = found->second;
    ++(point.grade == Grade::Pass ? counts.pass : point.grade == Grade::Warn ? counts.warn : counts.fail);
  }
  Table table({"series", "pass", "warn", "fail"});
  for (auto const& [name, counts] : rows)
    table.add({name, std::to_string(counts.pass), std::to_string(counts.warn), std::to_string(counts.fail)});
  return table.text();
}

// The failing and warning figures, worst first.
std::string findings_text(Judgement const& judgement) {
  std::vector<JudgedPoint const*> points;
  for (auto const& point : judgement.points)
    if (point.grade != Grade::Pass) points.push_back(&point);
  std::stable_sort(points.begin(), points.end(), [](auto const* a, auto const* b) {
    return a->grade != b->grade ? a->grade > b->grade : a->speed < b->speed;
  });
  if (points.empty()) return {};
  Table table({"grade", "series", "transfer", "size", "measured", "predicted", "90 % range", "of predicted", "cause"});
  for (std::size_t i = 0; i < std::min(points.size(), kMaxFiguresShown); ++i) {
    auto const& p = points[i]->result;
    auto const cause = points[i]->cause             ? fmt::format("cause {}", *points[i]->cause + 1)
                       : !points[i]->remark.empty() ? points[i]->remark
                                                    : std::string("not explained");
    table.add({std::string(to_string(points[i]->grade)), p.series, p.what, exact_text(p.bytes), shown(p, p.measured),
               p.predicted ? shown(p, *p.predicted) : "none",
               p.predicted ? fmt::format("{} to {}", shown(p, p.interval.low), shown(p, p.interval.high)) : "",
               p.predicted ? fmt::format("{:.0f} %", points[i]->speed * 100) : "", cause});
  }
  auto text = "\n" + table.text();
  if (points.size() > kMaxFiguresShown)
    text += fmt::format("... and {} more (--json has all)\n", points.size() - kMaxFiguresShown);
  return text;
}

std::string causes(Judgement const& judgement) {
  std::string text;
  for (std::size_t i = 0; i < judgement.causes.size(); ++i) {
    auto const& cause = judgement.causes[i];
    text += fmt::format("\nCause {}: {}\n  explains ", i + 1, text_of(cause));
    if (cause.explained > 0) text += fmt::format("{} of {} slow figures", cause.explained, judgement.slow());
    if (cause.refusals > 0)
      text += fmt::format("{}{} refusals of peer access", cause.explained > 0 ? " and " : "", cause.refusals);
    if (!cause.what.settings.empty()) text += fmt::format("; as {}", settings_text(cause.what.settings));
    text += fmt::format("\n  look: {}\n", cause.what.check);
    for (auto const& other : cause.also) text += fmt::format("  or: {}\n", other.text);
  }
  return text;
}

std::string facts(Judgement const& judgement) {
  Table table({"grade", "what was seen", "by the rules"});
  for (auto const& fact : judgement.facts)
    if (fact.grade != Grade::Pass) table.add({std::string(to_string(fact.grade)), fact.result.what, fact.result.found});
  return table.empty() ? std::string() : "\n" + table.text();
}

Json json_of(Hypothesis const& hypothesis) {
  Json json{{"kind", to_string(hypothesis.kind)}, {"subject", hypothesis.subject}, {"text", hypothesis.text}};
  json["likewise"] = hypothesis.likewise;
  json["settings"] = Json::array();
  for (auto const& setting : hypothesis.settings) json["settings"].push_back(setting.key + "=" + setting.value);
  json["check"] = hypothesis.check;
  return json;
}

Json json_of(JudgedPoint const& point) {
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
  json["cause"] = point.cause ? Json(*point.cause) : Json(nullptr);
  if (!point.remark.empty()) json["remark"] = point.remark;
  json["line"] = p.pos.line;
  return json;
}

}  // namespace

std::string judgement_text(Judgement const& judgement) {
  auto text = fmt::format("{} on {}\n\n{}", judgement.measurement, judgement.machine, series_rows(judgement));
  text += findings_text(judgement) + facts(judgement) + causes(judgement);
  text += fmt::format("\n{}: {} pass, {} warn, {} fail", to_string(judgement.worst()), judgement.count(Grade::Pass),
                      judgement.count(Grade::Warn), judgement.count(Grade::Fail));
  if (judgement.left_out > 0) text += fmt::format("; {} doubtful left out", judgement.left_out);
  return text + "\n";
}

nlohmann::ordered_json judgement_json(Judgement const& judgement) {
  Json json{{"lanewise", "judgement/1"},
            {"measurement", judgement.measurement},
            {"machine", judgement.machine},
            {"grade", to_string(judgement.worst())},
            {"pass", judgement.count(Grade::Pass)},
            {"warn", judgement.count(Grade::Warn)},
            {"fail", judgement.count(Grade::Fail)},
            {"left_out", judgement.left_out}};
  for (auto const* rows : {"causes", "points", "facts"}) json[rows] = Json::array();
  for (auto const& cause : judgement.causes) {
    auto item = json_of(cause.what);
    item["explained"] = cause.explained;
    item["refusals"] = cause.refusals;
    item["also"] = Json::array();
    for (auto const& other : cause.also) item["also"].push_back(json_of(other));
    json["causes"].push_back(std::move(item));
  }
  for (auto const& point : judgement.points) json["points"].push_back(json_of(point));
  for (auto const& fact : judgement.facts)
    json["facts"].push_back({{"what", fact.result.what},
                             {"grade", to_string(fact.grade)},
                             {"found", fact.result.found},
                             {"line", fact.result.pos.line}});
  return json;
}

}  // namespace lanewise
