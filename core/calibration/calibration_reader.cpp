#include <fmt/format.h>

#include <algorithm>

#include "core/calibration/calibration.hpp"
#include "core/io/spelling.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

std::vector<std::string> keys() {
  std::vector<std::string> names;
  for (auto const& figure : adjustable_figures())
    if (std::find(names.begin(), names.end(), figure.key) == names.end()) names.emplace_back(figure.key);
  return names;
}

FieldSpec part_field() {
  return {.name = "part", .type = ValueType::Id, .doc = "a part, wherever the machine has it; or 'at'"};
}
FieldSpec at_field() {
  return {.name = "at",
          .type = ValueType::Id,
          .doc = "one thing of the machine: gpu3, sw0, cpu0, or the two ends of a link, gpu0-gpu1"};
}
FieldSpec key_field() {
  return {.name = "key", .type = ValueType::Word, .doc = "of its figures", .required = true, .words = keys()};
}
FieldSpec report_field(std::string name, std::string doc) {
  return {.name = std::move(name), .type = ValueType::Custom, .doc = std::move(doc)};
}

// Keys that `lanewise calibrate --json` writes beside the overlay; not read.
MapSpec const& fit_spec() {
  static MapSpec const spec{"fit",
                            {report_field("before", "errors of the single transfers with the figures before"),
                             report_field("after", "and with the fitted ones"),
                             report_field("patterns_before", "the same of the patterns that were fitted"),
                             report_field("patterns_after", "and with the fitted ones"),
                             text_field("outliers", "single transfers that were given no weight"),
                             report_field("left_out", "measured figures that were not used, and why")}};
  return spec;
}

MapSpec const& stamp_spec() {
  static MapSpec const spec{"fitted measurement",
                            {text_field("name", "of the measurement", true),
                             text_field("date", "when it was taken"),
                             text_field("source", "where it is from"),
                             {.name = "digest", .type = ValueType::Id, .doc = "of its file", .required = true},
                             {.name = "environment",
                              .type = ValueType::Dictionary,
                              .doc = "driver, clocks, what else it ran in",
                              .item = ValueType::Text}}};
  return spec;
}

MapSpec const& calibrated_value_spec() {
  static MapSpec const spec{
      "calibrated value",
      {part_field(),
       at_field(),
       key_field(),
       text_field("value", "the figure, with its unit: 1.23 us, 24.5 GB/s, or a share, 0.88", true),
       text_field("low", "the lower end of the interval that holds it 95 times out of 100", true),
       text_field("high", "the upper end", true),
       text_field("before", "the figure in use before; nothing reads it"),
       {.name = "points", .type = ValueType::Count, .doc = "measured figures that hang on it", .required = true},
       {.name = "together_with",
        .type = ValueType::List,
        .doc = "the figures without which this one is not known: errors of one make up for errors of another",
        .item = ValueType::Text}}};
  return spec;
}

MapSpec const& unidentified_spec() {
  static MapSpec const spec{"unidentified value",
                            {part_field(), at_field(), key_field(), text_field("reason", "why it stays open", true)}};
  return spec;
}

class CalibrationReader {
 public:
  explicit CalibrationReader(SourceText const& source) : source_(source) {}

  Calibration read() {
    auto const root = parse_yaml(source_);
    expect_schema(root, "calibration/1", source_);
    MapReader top(root, calibration_spec(), source_, diagnostics_);
    auto const* named = top.node("machine");
    result_.pos = {source_.name(), named != nullptr ? named->line : 1, named != nullptr ? named->column : 1};
    result_.machine = top.text("machine").value_or("");
    result_.fingerprint = top.text("fingerprint").value_or("");
    if (auto stamp = top.map("measurement")) read_stamp(*stamp);
    for (auto& reader : top.maps("values")) read_value(reader);
    static_cast<void>(top.map("fit"));  // its keys are checked
    for (auto& reader : top.maps("unidentified")) {
      UnidentifiedValue entry;
      read_name(reader, entry);
      entry.reason = reader.text("reason").value_or("");
      result_.unidentified.push_back(std::move(entry));
    }
    diagnostics_.throw_if_any();
    return std::move(result_);
  }

 private:
  void read_stamp(MapReader& reader) {
    auto& stamp = result_.measurement;
    stamp.name = reader.text("name").value_or("");
    stamp.date = reader.text("date").value_or("");
    stamp.source = reader.text("source").value_or("");
    stamp.digest = reader.text("digest").value_or("");
    auto const* environment = reader.node("environment");
    if (environment == nullptr) return;
    if (environment->kind != YamlKind::Map)
      return reader.fail(*environment, "'environment': expected a mapping of names to texts");
    for (auto const& entry : environment->entries) {
      if (entry.value.kind != YamlKind::Scalar)
        reader.fail(entry.value, fmt::format("'{}': expected a text", entry.key));
      else
        stamp.environment.emplace(entry.key, entry.value.text);
    }
  }

  template <class Entry>
  void read_name(MapReader& reader, Entry& entry) {
    entry.part = reader.text("part").value_or("");
    entry.at = reader.text("at").value_or("");
    entry.key = reader.text("key").value_or("");
    if (reader.has("part") == reader.has("at")) reader.fail(reader.self(), "give either 'part' or 'at'");
  }

  void read_value(MapReader& reader) {
    CalibratedValue value;
    value.pos = {source_.name(), reader.self().line, reader.self().column};
    read_name(reader, value);
    auto const unit = dimension_of_key(value.key);
    value.value = figure(reader, "value", unit);
    value.low = figure(reader, "low", unit);
    value.high = figure(reader, "high", unit);
    value.points = reader.count("points").value_or(0);
    value.together_with = reader.texts("together_with");
    for (auto const& other : result_.values)
      if (unit && other.part == value.part && other.at == value.at && other.key == value.key)
        reader.fail(reader.self(), fmt::format("'{}' of '{}' is already there, at line {}", value.key,
                                               value.at.empty() ? value.part : value.at, other.pos.line));
    bool const whole = value.value > 0 && value.low > 0 && value.high > 0;
    if (whole && (value.low > value.value || value.high < value.value))
      reader.fail(*reader.node("value"), "the interval from 'low' to 'high' must hold the value");
    result_.values.push_back(std::move(value));
  }

  // Reports a missing or invalid figure and returns 0.
  double figure(MapReader& reader, std::string_view key, std::optional<Dimension> unit) {
    auto const text = reader.text(key).value_or("");
    if (text.empty() || !unit) return 0;
    auto const taken = [&](auto const& parsed, double value) {
      if (!parsed.value)
        reader.fail(*reader.node(key), fmt::format("'{}': {}", key, parsed.problem));
      else if (!(value > 0))
        reader.fail(*reader.node(key), fmt::format("'{}': more than 0 is needed", key));
      return rounded_to_file_digits(value);
    };
    if (*unit == Dimension::Ratio) {
      auto const parsed = parse_ratio(text);
      return taken(parsed, parsed.value.value_or(0));
    }
    if (*unit == Dimension::Time) {
      auto const parsed = parse_seconds(text);
      return taken(parsed, parsed.value.value_or(Seconds(0)).value());
    }
    auto const parsed = parse_rate(text);
    return taken(parsed, parsed.value.value_or(BytesPerSecond(0)).value());
  }

  SourceText const& source_;
  Diagnostics diagnostics_;
  Calibration result_;
};

}  // namespace

MapSpec const& calibration_spec() {
  static MapSpec const spec{
      "calibration",
      {{.name = "lanewise",
        .type = ValueType::Word,
        .doc = "calibration/1",
        .required = true,
        .words = {"calibration/1"}},
       {.name = "machine", .type = ValueType::Id, .doc = "the machine that was measured", .required = true},
       {.name = "fingerprint",
        .type = ValueType::Id,
        .doc = "of that machine as its file says it: the overlay fits no other",
        .required = true},
       {.name = "measurement",
        .type = ValueType::Map,
        .doc = "what the figures were fitted to",
        .required = true,
        .map = &stamp_spec()},
       {.name = "values",
        .type = ValueType::List,
        .doc = "the fitted figures",
        .required = true,
        .map = &calibrated_value_spec(),
        .item = ValueType::Map},
       {.name = "unidentified",
        .type = ValueType::List,
        .doc = "the figures that the measurement says nothing of, and why",
        .map = &unidentified_spec(),
        .item = ValueType::Map},
       {.name = "fit", .type = ValueType::Map, .doc = "how well it fits, for people", .map = &fit_spec()}}};
  return spec;
}

Calibration read_calibration(SourceText const& source) { return CalibrationReader(source).read(); }

}  // namespace lanewise
