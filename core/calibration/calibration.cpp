#include "core/calibration/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/io/spelling.hpp"
#include "core/io/yaml_writer.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

constexpr int kDigits = 6;  // a measured figure has fewer

// The usual decimal units, smallest first.
struct Scale {
  double factor;
  std::string_view unit;
};
constexpr std::array<Scale, 3> kTimes{{{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}}};
constexpr std::array<Scale, 3> kRateScales{{{1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"}}};

double with_digits(double value) { return std::strtod(fmt::format("{:.{}g}", value, kDigits).c_str(), nullptr); }

Part const& part_of(CalibratedValue const& value, Machine const& machine) {
  if (!value.at.empty()) {
    if (auto const id = part_at(machine, value.at)) return machine.at(*id);
    refuse_at(value.pos, fmt::format("'at': '{}' has no '{}', or it has no part", machine.name, value.at));
  }
  std::vector<std::string> names;
  for (auto const& part : machine.parts) {
    if (part.name == value.part) return part;
    names.push_back(part.name);
  }
  refuse_at(value.pos, fmt::format("'part': '{}' has no part '{}'{} it has: {}", machine.name, value.part,
                                   did_you_mean_first(value.part, names), fmt::join(names, ", ")));
}

AdjustableFigure const& figure_of(CalibratedValue const& value, Part const& part) {
  std::vector<std::string> keys;
  for (auto const& figure : adjustable_figures()) {
    if (figure.kind != part.kind) continue;
    if (figure.key == value.key) return figure;
    keys.emplace_back(figure.key);
  }
  refuse_at(value.pos,
            fmt::format("'key': a {} such as '{}' has no '{}' to calibrate{} allowed: {}", to_string(part.kind),
                        part.name, value.key, did_you_mean_first(value.key, keys), fmt::join(keys, ", ")));
}

}  // namespace

std::optional<Dimension> dimension_of_key(std::string_view key) {
  for (auto const& figure : adjustable_figures())
    if (figure.key == key) return figure.unit;
  return std::nullopt;
}

std::string exact_text(Dimension unit, double value) {
  auto const rounded = with_digits(value);
  if (unit == Dimension::Ratio) return shortest_text(rounded);
  for (auto const& scale : unit == Dimension::Time ? kTimes : kRateScales) {
    auto const number = with_digits(rounded / scale.factor);
    if (number >= 1 && number < 1000) return fmt::format("{} {}", shortest_text(number), scale.unit);
  }
  return unit == Dimension::Time ? exact_text(Seconds(rounded)) : exact_text(BytesPerSecond(rounded));
}

std::string rounded_text(Dimension unit, double value) {
  if (unit == Dimension::Time) return rounded_text(Seconds(value));
  return unit == Dimension::Rate ? rounded_text(BytesPerSecond(value)) : fmt::format("{:.4f}", value);
}

double rounded_to_file_digits(double value) { return with_digits(value); }

void apply(Calibration const& calibration, Machine& machine) {
  if (calibration.machine != machine.name)
    refuse_at(calibration.pos,
              fmt::format("this calibration is of '{}', not of '{}'", calibration.machine, machine.name));
  if (auto const is = fingerprint(machine); is != calibration.fingerprint)
    refuse_at(
        calibration.pos,
        fmt::format("this calibration is of another '{}' (fingerprint {}, here {}): the machine file or a part that "
                    "it names has changed since; calibrate again",
                    machine.name, calibration.fingerprint, is));
  for (bool const of_one : {false, true}) {  // a part first: what has one for itself begins as a copy
    for (auto const& value : calibration.values) {
      if (value.at.empty() == of_one) continue;
      auto const& part = part_of(value, machine);
      CalibrationTarget const target{&figure_of(value, part), part.name, value.at};
      target.set(machine, value.value);
    }
  }
}

nlohmann::ordered_json calibration_tree(Calibration const& calibration) {
  using Tree = nlohmann::ordered_json;
  auto const& stamp = calibration.measurement;
  Tree measurement{{"name", stamp.name}};
  if (!stamp.date.empty()) measurement["date"] = stamp.date;
  if (!stamp.source.empty()) measurement["source"] = stamp.source;
  measurement["digest"] = stamp.digest;
  for (auto const& [key, text] : stamp.environment) measurement["environment"][key] = text;
  Tree tree{{"lanewise", "calibration/1"},
            {"machine", calibration.machine},
            {"fingerprint", calibration.fingerprint},
            {"measurement", std::move(measurement)},
            {"values", Tree::array()},
            {"unidentified", Tree::array()}};
  auto const named = [](auto const& entry) {
    return entry.at.empty() ? Tree{{"part", entry.part}, {"key", entry.key}}
                            : Tree{{"at", entry.at}, {"key", entry.key}};
  };
  for (auto const& value : calibration.values) {
    auto const unit = dimension_of_key(value.key).value();
    auto item = named(value);
    item["value"] = exact_text(unit, value.value);
    item["low"] = exact_text(unit, value.low);
    item["high"] = exact_text(unit, value.high);
    item["points"] = value.points;
    if (!value.together_with.empty()) item["together_with"] = value.together_with;
    tree["values"].push_back(std::move(item));
  }
  for (auto const& entry : calibration.unidentified) {
    auto item = named(entry);
    item["reason"] = entry.reason;
    tree["unidentified"].push_back(std::move(item));
  }
  return tree;
}

std::string write_calibration(Calibration const& calibration) {
  return "# Written by `lanewise calibrate`. Figures of the machine's parts as this measurement has them; use it with\n"
         "# --calibration beside the machine.\n" +
         yaml_text(calibration_tree(calibration));
}

}  // namespace lanewise
