#include "core/view/diagnosis_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/machine/setting_value.hpp"
#include "core/text/percent.hpp"
#include "core/text/table.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxFiguresShown = 40;  // of the table for people; the JSON has all

std::string shown(PointResult const& p, double value) {
  return p.quantity == MeasuredQuantity::Bandwidth ? rounded_text(BytesPerSecond(value)) : rounded_text(Seconds(value));
}

std::string settings_text(std::vector<Setting> const& settings) {
  std::vector<std::string> texts;
  for (auto const& setting : settings) {
    auto const text = text_of(setting);
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

std::string series_rows(Diagnosis const& diagnosis) {
  struct Counts {
    std::size_t pass = 0, warn = 0, fail = 0;
  };
  std::vector<std::pair<std::string, Counts>> rows;
  for (auto const& point : diagnosis.points) {
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

std::string cause_text(GradedPoint const& point) {
  if (point.cause) return fmt::format("cause {}", *point.cause + 1);
  return point.grade == Grade::Pass ? point.remark : !point.remark.empty() ? point.remark : "not explained";
}

// Every row of collectives, beside what the library should take and what would be possible.
std::string collectives_text(Diagnosis const& diagnosis) {
  std::vector<GradedPoint const*> points;
  for (auto const& point : diagnosis.points)
    if (!point.result.library.empty()) points.push_back(&point);
  if (points.empty()) return {};
  Table table({"grade", "collective", "size", "measured", "predicted", "90 % range", "possible", "library", "cause"});
  for (std::size_t i = 0; i < std::min(points.size(), kMaxFiguresShown); ++i) {
    auto const& p = points[i]->result;
    table.add({std::string(to_string(points[i]->grade)), p.what, exact_text(p.bytes), shown(p, p.measured),
               p.predicted ? shown(p, *p.predicted) : "none",
               p.predicted ? fmt::format("{} to {}", shown(p, p.interval.low), shown(p, p.interval.high)) : "",
               p.possible ? shown(p, *p.possible) : "", p.predicted ? p.library + ": " + p.binding : p.binding,
               cause_text(*points[i])});
  }
  auto text = "\n" + table.text();
  if (points.size() > kMaxFiguresShown)
    text += fmt::format("... and {} more (--json has all)\n", points.size() - kMaxFiguresShown);
  return text;
}

// The figures of transfers that fail or warn, worst first.
std::string findings_text(Diagnosis const& diagnosis) {
  std::vector<GradedPoint const*> points;
  for (auto const& point : diagnosis.points)
    if (point.grade != Grade::Pass && point.result.library.empty()) points.push_back(&point);
  std::stable_sort(points.begin(), points.end(), [](auto const* a, auto const* b) {
    return a->grade != b->grade ? a->grade > b->grade : a->speed < b->speed;
  });
  if (points.empty()) return {};
  Table table({"grade", "series", "transfer", "size", "measured", "predicted", "90 % range", "of predicted", "cause"});
  for (std::size_t i = 0; i < std::min(points.size(), kMaxFiguresShown); ++i) {
    auto const& p = points[i]->result;
    table.add({std::string(to_string(points[i]->grade)), p.series, p.what, exact_text(p.bytes), shown(p, p.measured),
               p.predicted ? shown(p, *p.predicted) : "none",
               p.predicted ? fmt::format("{} to {}", shown(p, p.interval.low), shown(p, p.interval.high)) : "",
               p.predicted ? percent_text(points[i]->speed, 0) : "", cause_text(*points[i])});
  }
  auto text = "\n" + table.text();
  if (points.size() > kMaxFiguresShown)
    text += fmt::format("... and {} more (--json has all)\n", points.size() - kMaxFiguresShown);
  return text;
}

std::string causes(Diagnosis const& diagnosis) {
  std::string text;
  for (std::size_t i = 0; i < diagnosis.causes.size(); ++i) {
    auto const& cause = diagnosis.causes[i];
    text += fmt::format("\nCause {}: {}\n  explains ", i + 1, text_of(cause));
    if (cause.explained > 0) text += fmt::format("{} of {} slow figures", cause.explained, diagnosis.slow());
    if (cause.refusals > 0)
      text += fmt::format("{}{} refusals of peer access", cause.explained > 0 ? " and " : "", cause.refusals);
    if (!cause.what.settings.empty()) text += fmt::format("; as {}", settings_text(cause.what.settings));
    text += fmt::format("\n  look: {}\n", cause.what.check);
    for (auto const& other : cause.also) text += fmt::format("  or: {}\n", other.text);
  }
  return text;
}

std::string facts(Diagnosis const& diagnosis) {
  Table table({"grade", "what was seen", "by the rules"});
  for (auto const& fact : diagnosis.facts)
    if (fact.grade != Grade::Pass) table.add({std::string(to_string(fact.grade)), fact.result.what, fact.result.found});
  return table.empty() ? std::string() : "\n" + table.text();
}

}  // namespace

std::string diagnosis_text(Diagnosis const& diagnosis) {
  auto text = fmt::format("{} on {}\n\n{}", diagnosis.measurement, diagnosis.machine, series_rows(diagnosis));
  text += collectives_text(diagnosis) + findings_text(diagnosis) + facts(diagnosis) + causes(diagnosis);
  text += fmt::format("\n{}: {} pass, {} warn, {} fail", to_string(diagnosis.worst()), diagnosis.count(Grade::Pass),
                      diagnosis.count(Grade::Warn), diagnosis.count(Grade::Fail));
  text += "\n";
  for (auto const& [why, figures] : diagnosis.left_out) text += fmt::format("{} left out: {}\n", figures, why);
  return text;
}

}  // namespace lanewise
