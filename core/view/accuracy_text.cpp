#include "core/view/accuracy_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "core/text/percent.hpp"
#include "core/text/table.hpp"
#include "core/units/statistics.hpp"
#include "lanewise/model/resources/parameter.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

using TableRows = std::vector<std::vector<std::string>>;

std::string percent(std::optional<double> share) { return share ? percent_text(*share) : "-"; }
std::string count(std::size_t number) { return number > 0 ? std::to_string(number) : "-"; }

std::string shown(MeasuredQuantity quantity, double value) {
  return quantity == MeasuredQuantity::Bandwidth ? rounded_text(BytesPerSecond(value)) : rounded_text(Seconds(value));
}

// A result with only the points that `keep` accepts, to be summarised.
template <class Keep>
MeasurementResult part_of(MeasurementResult const& result, Keep keep) {
  MeasurementResult part;
  for (auto const& point : result.points)
    if (keep(point)) part.points.push_back(point);
  return part;
}

std::vector<std::string> const kSummaryHeader{"bandwidth points", "median", "p95",   "worst",       "latency points",
                                              "median",           "p95",    "worst", "in interval", "rules agree"};

std::vector<std::string> cells(AccuracySummary const& s) {
  return {count(s.bandwidth.points),    percent(s.bandwidth.median), percent(s.bandwidth.p95),
          percent(s.bandwidth.worst),   count(s.latency.points),     percent(s.latency.median),
          percent(s.latency.p95),       percent(s.latency.worst),    percent(s.interval_coverage),
          percent(s.legality_agreement)};
}

std::vector<std::string> row(std::string name, AccuracySummary const& summary) {
  auto made = cells(summary);
  made.insert(made.begin(), std::move(name));
  return made;
}

// Rows under `kSummaryHeader`: one for each file and a total, and one for each path class.
struct Rows {
  TableRows files, groups;
};

Rows rows_of(std::vector<MeasurementResult> const& results) {
  Rows rows;
  std::map<std::string, std::vector<MeasurementResult>> groups;
  for (auto const& result : results) {
    auto const doubtful = !result.doubtful.empty();
    rows.files.push_back(row(result.name + (doubtful ? " (doubtful)" : ""), summarise({result})));
    std::set<std::string> names;
    for (auto const& point : result.points)
      if (point.in_gate() && !point.group.empty() && point.at_once != AtOnce::Collective) names.insert(point.group);
    for (auto const& name : names)
      groups[name].push_back(part_of(result, [&](PointResult const& p) { return p.in_gate() && p.group == name; }));
  }
  for (auto const& [name, parts] : groups) rows.groups.push_back(row(name, summarise(parts)));
  rows.files.push_back(row("all", summarise(results)));
  return rows;
}

struct Worst {
  MeasurementResult const* result;
  PointResult const* point;
};

// The worst points, only one for each series, because all points of a series tend to share a fault.
std::vector<Worst> worst_points(std::vector<MeasurementResult> const& results, std::size_t most) {
  std::vector<Worst> worst;
  for (auto const& result : results) {
    std::map<std::string, Worst> of_series;
    for (auto const& point : result.points) {
      if (!point.in_gate() || !point.error()) continue;
      auto const [found, fresh] = of_series.try_emplace(point.series, Worst{&result, &point});
      if (!fresh && *point.error() > *found->second.point->error()) found->second.point = &point;
    }
    for (auto const& [unused, entry] : of_series) worst.push_back(entry);
  }
  std::stable_sort(worst.begin(), worst.end(),
                   [](Worst const& a, Worst const& b) { return *a.point->error() > *b.point->error(); });
  if (worst.size() > most) worst.resize(most);
  return worst;
}

std::vector<std::string> const kWorstHeader{"file and series", "transfer",   "by",    "size",  "measured",
                                            "predicted",       "90 % range", "error", "noise", "bound by"};

std::vector<std::string> worst_row(Worst const& worst) {
  auto const& p = *worst.point;
  return {worst.result->name + ", " + p.series,
          p.what,
          p.group,
          exact_text(p.bytes),
          shown(p.quantity, p.measured),
          shown(p.quantity, *p.predicted),
          fmt::format("{} to {}", shown(p.quantity, p.interval.low), shown(p.quantity, p.interval.high)),
          difference_text(*p.predicted / p.measured - 1),
          p.noise ? percent_text(*p.noise) : "-",
          p.binding};
}

constexpr std::size_t kWorstShown = 20;

TableRows worst_rows(std::vector<MeasurementResult> const& results) {
  TableRows rows;
  for (auto const& worst : worst_points(results, kWorstShown)) rows.push_back(worst_row(worst));
  return rows;
}

std::vector<std::string> const kFaultHeader{"file", "what", "found"};

// Facts on which the rules are wrong, and points without a prediction.
TableRows faults_of(std::vector<MeasurementResult> const& results) {
  TableRows faults;
  for (auto const& result : results) {
    for (auto const& fact : result.facts)
      if (fact.in_gate() && !fact.agrees) faults.push_back({result.name, fact.what, fact.found});
    std::map<std::string, std::pair<PointResult const*, int>> refused;  // by series and reason
    for (auto const& point : result.points) {
      if (!point.in_gate() || point.predicted) continue;
      auto& [first, number] = refused[point.series + point.binding];
      if (first == nullptr) first = &point;
      ++number;
    }
    for (auto const& [unused, entry] : refused)
      faults.push_back(
          {result.name + ", " + entry.first->series,
           entry.second == 1 ? entry.first->what : fmt::format("{} and {} more", entry.first->what, entry.second - 1),
           entry.first->binding});
  }
  return faults;
}

std::string makespans(AccuracySummary const& s) {
  if (s.makespan.points == 0) return {};
  return fmt::format("{} makespans: median {}, p95 {}; ", s.makespan.points, percent(s.makespan.median),
                     percent(s.makespan.p95));
}

std::string collectives(AccuracySummary const& s) {
  if (s.collective.points == 0) return {};
  auto text = fmt::format("{} figures of collectives: median {}, p95 {}, {} inside", s.collective.points,
                          percent(s.collective.median), percent(s.collective.p95), percent(s.collective_coverage));
  if (s.near_change.points > 0)
    text += fmt::format(", of which {} near a change of algorithm or protocol: median {}, p95 {}", s.near_change.points,
                        percent(s.near_change.median), percent(s.near_change.p95));
  return text + "; ";
}

std::string fitted(AccuracySummary const& s) {
  if (s.fitted.points == 0) return "";
  return fmt::format("; {} that the calibration was fitted to are not counted (median {}, p95 {})", s.fitted.points,
                     percent(s.fitted.median), percent(s.fitted.p95));
}

// The noise of the measured figures beside their errors.
std::string noise(AccuracySummary const& s) {
  if (s.noise.points == 0) return "";
  return fmt::format("; {} figures say their noise: median {}, p95 {}, which explains {} of their errors",
                     s.noise.points, percent(s.noise.median), percent(s.noise.p95), s.within_noise);
}

std::string summary_line(AccuracySummary const& s) {
  return fmt::format(
      "{} bandwidths: median {}, p95 {}; {} latencies: median {}; {}{}{} inside the 90 % range; rules agree with "
      "{} of {}; {} left out as doubtful, {} without a prediction{}{}",
      s.bandwidth.points, percent(s.bandwidth.median), percent(s.bandwidth.p95), s.latency.points,
      percent(s.latency.median), makespans(s), collectives(s), percent(s.interval_coverage),
      percent(s.legality_agreement), s.counted, s.left_out, s.unpredicted, noise(s), fitted(s));
}

std::vector<std::string> const kMakespanHeader{"file", "makespans", "median", "p95", "worst"};

// A row for each file with makespans, and a total; empty if there are none.
TableRows makespan_rows(std::vector<MeasurementResult> const& results) {
  TableRows rows;
  auto const add = [&](std::string name, ErrorSummary const& s) {
    if (s.points > 0)
      rows.push_back({std::move(name), count(s.points), percent(s.median), percent(s.p95), percent(s.worst)});
  };
  for (auto const& result : results) add(result.name, summarise({result}).makespan);
  add("all", summarise(results).makespan);
  return rows;
}

std::vector<std::string> const kCollectiveHeader{"GPUs",   "collective", "size",  "figures",
                                                 "median", "p95",        "worst", "in interval"};

// Sizes below which latency counts, above which bandwidth does, and between.
std::string size_class(Bytes bytes) {
  if (bytes < Bytes(std::int64_t{1} << 20)) return "below 1 MiB";
  return bytes <= Bytes(std::int64_t{64} << 20) ? "1 to 64 MiB" : "above 64 MiB";
}

enum class NearChange : bool { No, Yes };

// Of collectives by libraries, those near a change of algorithm or protocol or the others: a row for each generation,
// op and class of sizes, and totals; empty if there are none.
TableRows collective_rows(std::vector<MeasurementResult> const& results, NearChange near_change) {
  struct Group {
    std::vector<double> errors;
    std::size_t covered = 0;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Group> groups;
  for (auto const& result : results)
    for (auto const& point : result.points) {
      if (!point.in_gate() || point.at_once != AtOnce::Collective || !point.error()) continue;
      if (point.near_change != (near_change == NearChange::Yes)) continue;
      auto const op = point.what.substr(0, point.what.find(' '));
      auto const size = size_class(point.bytes);
      auto const generation = std::string(to_string(point.generation));
      std::string const all = "all";
      std::vector<std::tuple<std::string, std::string, std::string>> keys{{generation, op, size}, {all, all, size}};
      if (point.bytes >= Bytes(1 << 20)) keys.emplace_back(all, all, "from 1 MiB on");
      for (auto const& key : keys) {
        auto& group = groups[key];
        group.errors.push_back(*point.error());
        group.covered += point.interval.holds(point.measured) ? 1 : 0;
      }
    }
  TableRows rows;
  for (auto const& [key, group] : groups) {
    auto const& [generation, op, size] = key;
    rows.push_back({generation, op, size, count(group.errors.size()), percent(median(group.errors)),
                    percent(quantile(group.errors, 0.95)), percent(quantile(group.errors, 1)),
                    percent(static_cast<double>(group.covered) / static_cast<double>(group.errors.size()))});
  }
  return rows;
}

std::vector<std::string> const kClassHeader{"GPUs", "at once",    "rates and makespans", "median",
                                            "p95",  "worst",      "latency points",      "median",
                                            "p95",  "in interval"};

std::vector<std::string> class_row(std::string gpus, AccuracyClass const& one) {
  return {std::move(gpus),           std::string(to_string(one.at_once)),
          count(one.times.points),   percent(one.times.median),
          percent(one.times.p95),    percent(one.times.worst),
          count(one.latency.points), percent(one.latency.median),
          percent(one.latency.p95),  percent(one.interval_coverage)};
}

// Hopper and later first, for that is what is bought; then each generation, then all.
TableRows class_rows(std::vector<MeasurementResult> const& results) {
  TableRows rows;
  auto const add = [&](std::string const& name, std::function<bool(GpuGeneration)> const& keep) {
    for (auto const at_once : kEachAtOnce)
      if (auto const found = accuracy_of(results, at_once, keep); found.times.points + found.latency.points > 0)
        rows.push_back(class_row(name, found));
  };
  add("Hopper and later",
      [](GpuGeneration one) { return one == GpuGeneration::Hopper || one == GpuGeneration::Blackwell; });
  for (auto const& one : accuracy_classes(results))
    rows.push_back(class_row(std::string(to_string(one.generation)), one));
  add("all", [](GpuGeneration) { return true; });
  return rows;
}

std::string markdown_table(std::vector<std::string> const& header, TableRows const& rows) {
  auto text = fmt::format("| {} |\n|", fmt::join(header, " | "));
  for (std::size_t i = 0; i < header.size(); ++i) text += "---|";
  text += "\n";
  for (auto const& cells : rows) text += fmt::format("| {} |\n", fmt::join(cells, " | "));
  return text;
}

std::vector<std::string> header(std::string const& first) {
  auto names = kSummaryHeader;
  names.insert(names.begin(), first);
  return names;
}

std::string table(std::vector<std::string> const& header, TableRows const& rows) {
  Table table(header);
  for (auto const& cells : rows) table.add(cells);
  return table.text();
}

// What does not count: a row for each reason in a file.
TableRows left_out(std::vector<MeasurementResult> const& results) {
  TableRows rows;
  for (auto const& result : results) {
    std::map<std::string, std::pair<std::string, int>> reasons;
    auto const add = [&](std::string const& reason, std::string const& where) {
      if (reason.empty()) return;
      auto& [first, number] = reasons[reason];
      if (number++ == 0) first = where;
    };
    for (auto const& point : result.points) add(point.doubtful, point.series);
    for (auto const& fact : result.facts) add(fact.doubtful, fact.what);
    for (auto const& [reason, entry] : reasons)
      rows.push_back({result.name, entry.first, std::to_string(entry.second), reason});
  }
  return rows;
}
std::vector<std::string> const kLeftOutHeader{"file", "of", "points", "why"};

}  // namespace

std::string accuracy_text(std::vector<MeasurementResult> const& results) {
  auto const rows = rows_of(results);
  auto text = table(kClassHeader, class_rows(results)) + "\n" + table(header("file"), rows.files) + "\n" +
              table(header("path"), rows.groups);
  if (auto const makespans = makespan_rows(results); !makespans.empty())
    text += "\n" + table(kMakespanHeader, makespans);
  if (auto const collectives = collective_rows(results, NearChange::No); !collectives.empty())
    text += "\n" + table(kCollectiveHeader, collectives);
  if (auto const collectives = collective_rows(results, NearChange::Yes); !collectives.empty())
    text += "\ncollectives near a change of algorithm or protocol\n" + table(kCollectiveHeader, collectives);
  if (auto const faults = faults_of(results); !faults.empty())
    text += "\nnot as measured, or not predicted\n" + table(kFaultHeader, faults);
  if (auto const doubtful = left_out(results); !doubtful.empty())
    text += "\nleft out as doubtful\n" + table(kLeftOutHeader, doubtful);
  text += "\nworst points, one of each series\n" + table(kWorstHeader, worst_rows(results)) + "\n";
  return text + summary_line(summarise(results)) + "\n";
}

std::string accuracy_markdown(std::vector<MeasurementResult> const& results) {
  auto const rows = rows_of(results);
  std::string text =
      "# How far predictions are off\n\n"
      "Generated by `lanewise accuracy --markdown`; a test holds it to this commit. Every figure under "
      "`measurements/published` was\n"
      "measured by others and is predicted from datasheet parts alone; figures that a part took from a measurement are "
      "taken\n"
      "away when that measurement is predicted (`withhold`). Errors are |predicted / measured - 1|. Doubtful figures "
      "are kept\n"
      "in the files, with the reason, and left out here. How to add a file: `docs/measurements.md`.\n\n";
  text += summary_line(summarise(results)) + ".\n\n## By generation, and by how many transfers run at once\n" +
          markdown_table(kClassHeader, class_rows(results)) + "\n## By file\n" +
          markdown_table(header("file"), rows.files);
  text += "\n## By mechanism and distance\n" + markdown_table(header("path"), rows.groups);
  if (auto const makespans = makespan_rows(results); !makespans.empty())
    text += "\n## Makespans of several transfers\n" + markdown_table(kMakespanHeader, makespans);
  if (auto const collectives = collective_rows(results, NearChange::No); !collectives.empty())
    text += "\n## Collectives of libraries\n" + markdown_table(kCollectiveHeader, collectives);
  if (auto const collectives = collective_rows(results, NearChange::Yes); !collectives.empty())
    text +=
        "\n## Collectives near a change of algorithm or protocol\nAt half or twice the size the library does it by "
        "another algorithm or protocol; where it changes differs by version and machine.\n\n" +
        markdown_table(kCollectiveHeader, collectives);
  text += "\n## Worst points, one of each series\n" + markdown_table(kWorstHeader, worst_rows(results));
  if (auto const faults = faults_of(results); !faults.empty())
    text += "\n## Not as measured, or not predicted\n" + markdown_table(kFaultHeader, faults);
  if (auto const doubtful = left_out(results); !doubtful.empty())
    text += "\n## Left out as doubtful\n" + markdown_table(kLeftOutHeader, doubtful);
  TableRows sources;
  for (auto const& result : results)
    sources.push_back(
        {result.name, result.title, result.machine, result.grade, result.date, result.method, result.source});
  text += "\n## Sources\n" +
          markdown_table({"file", "what", "machine", "grade", "date", "how it was measured", "source"}, sources);
  TableRows parameters;
  for (auto const& range : parameter_ranges())
    parameters.push_back(
        {std::string(range.name), fmt::format("{} to {}", range.low, range.high), std::string(range.source)});
  return text +
         "\n## What the 90 % ranges are made of\nFactors on the figure in use that hold nine machines out of ten.\n\n" +
         markdown_table({"parameter", "factor", "read from"}, parameters);
}

}  // namespace lanewise
