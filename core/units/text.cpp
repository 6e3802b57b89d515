#include "lanewise/units/text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "core/units/limits.hpp"

namespace lanewise {
namespace {

struct NamedUnit {
  std::string_view name;
  double scale;
};

constexpr std::array<NamedUnit, 9> kByteUnits{{{"B", 1},
                                               {"KiB", 1024.0},
                                               {"MiB", 1048576.0},
                                               {"GiB", 1073741824.0},
                                               {"TiB", 1099511627776.0},
                                               {"kB", 1e3},
                                               {"MB", 1e6},
                                               {"GB", 1e9},
                                               {"TB", 1e12}}};
constexpr std::array<NamedUnit, 9> kRateUnits{{{"B/s", 1},
                                               {"kB/s", 1e3},
                                               {"MB/s", 1e6},
                                               {"GB/s", 1e9},
                                               {"TB/s", 1e12},
                                               {"MiB/s", 1048576.0},
                                               {"GiB/s", 1073741824.0},
                                               {"Mb/s", 1e6 / 8},
                                               {"Gb/s", 1e9 / 8}}};
constexpr std::array<NamedUnit, 5> kTimeUnits{{{"ps", 1e-12}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
constexpr std::array<NamedUnit, 4> kFrequencyUnits{{{"/s", 1}, {"k/s", 1e3}, {"M/s", 1e6}, {"G/s", 1e9}}};
constexpr std::array<NamedUnit, 6> kFlopUnits{
    {{"FLOP", 1}, {"kFLOP", 1e3}, {"MFLOP", 1e6}, {"GFLOP", 1e9}, {"TFLOP", 1e12}, {"PFLOP", 1e15}}};
constexpr std::array<NamedUnit, 6> kFlopRateUnits{
    {{"FLOP/s", 1}, {"kFLOP/s", 1e3}, {"MFLOP/s", 1e6}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}}};
constexpr std::array<NamedUnit, 4> kWattUnits{{{"mW", 1e-3}, {"W", 1}, {"kW", 1e3}, {"MW", 1e6}}};

struct ReadNumber {
  double value = 0;
  std::string_view unit;
};

std::optional<ReadNumber> split_number(std::string_view text) {
  text = trimmed(text);
  ReadNumber number;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (error != std::errc() || !std::isfinite(number.value)) return std::nullopt;
  number.unit = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  return number;
}

std::string names_of(std::span<NamedUnit const> units) {
  std::string names;
  for (auto const& unit : units) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  return names;
}

// A limit in the largest unit in which it is at least 1. The first units of a table go up; other families follow them.
std::string limit_text(double value, std::span<NamedUnit const> units) {
  auto const* best = units.data();
  for (std::size_t i = 1; i < units.size() && units[i].scale > units[i - 1].scale; ++i)
    if (value >= units[i].scale) best = &units[i];
  return fmt::format("{:.15g} {}", value / best->scale, best->name);
}

// What may be said of a quantity; bounds in units of scale 1.
struct Accepted {
  double min = 0;
  double max = 0;
  bool zero = false;
};

Parsed<double> parse_with(std::string_view text, std::span<NamedUnit const> units, std::string_view what,
                          std::string_view example, Accepted const& accepted) {
  auto const number = split_number(text);
  if (!number)
    return {{}, fmt::format("'{}' is not a {}; write a number and a unit, such as '{}'", text, what, example)};
  if (number->unit.empty())
    return {{}, fmt::format("'{}' has no unit; write one of {}, such as '{}'", text, names_of(units), example)};
  for (auto const& unit : units) {
    if (unit.name != number->unit) continue;
    if (number->value < 0 || (number->value == 0 && !accepted.zero))
      return {{}, fmt::format("'{}' must be {}", text, accepted.zero ? "zero or more" : "more than zero")};
    auto const value = number->value * unit.scale;
    if (value > accepted.max)
      return {{}, fmt::format("'{}' is too large; at most {}", text, limit_text(accepted.max, units))};
    if (value < accepted.min && number->value != 0)
      return {{}, fmt::format("'{}' is too small; at least {}", text, limit_text(accepted.min, units))};
    return {value, {}};
  }
  return {{}, fmt::format("unknown unit '{}' for a {}; allowed: {}", number->unit, what, names_of(units))};
}

// A decimal number as std::from_chars reads it, without a sign.
constexpr std::string_view kNumber = R"(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)";
constexpr std::string_view kPositive = R"(([0-9]*[1-9][0-9]*\.?[0-9]*|[0-9]*\.[0-9]*[1-9][0-9]*)([eE][+-]?[0-9]+)?)";

std::string pattern_with(std::span<NamedUnit const> units, std::string_view number) {
  std::string names;
  for (auto const& unit : units) names += (names.empty() ? "" : "|") + std::string(unit.name);
  return fmt::format("^ *{} *({}) *$", number, names);
}

// The shortest decimal in this unit that reads back as the same double; empty when no decimal does.
std::string exact_in(double value, NamedUnit const& unit) {
  for (int digits = 6; digits <= 17; ++digits) {
    auto const text = fmt::format("{:.{}g}", value / unit.scale, digits);
    if (std::stod(text) * unit.scale == value) return fmt::format("{} {}", text, unit.name);
  }
  return {};
}

// The exact text in the largest unit in which the value is at least 1. One of the units must have the scale 1.
std::string in_best_unit(double value, std::span<NamedUnit const> ascending) {
  std::string best;
  std::string fallback;
  for (auto const& unit : ascending) {
    auto text = exact_in(value, unit);
    if (text.empty()) continue;
    if (fallback.empty() || unit.scale == 1) fallback = text;
    if (std::abs(value) >= unit.scale * (1 - 1e-12)) best = std::move(text);
  }
  return best.empty() ? fallback : best;
}

}  // namespace

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  auto const first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  auto const continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  while (most > 0 && continues(text[most])) --most;
  return text.substr(0, most);
}

Parsed<Bytes> parse_bytes(std::string_view text) {
  auto const parsed = parse_with(text, kByteUnits, "size", "256 MiB", {0, 1e30, true});
  if (!parsed.value) return {{}, parsed.problem};
  if (*parsed.value > kMaxBytes) return {{}, fmt::format("'{}' is too large; at most 1024 TiB", text)};
  if (*parsed.value != std::floor(*parsed.value)) return {{}, fmt::format("'{}' is not a whole number of bytes", text)};
  return {Bytes(static_cast<std::int64_t>(*parsed.value)), {}};
}

Parsed<BytesPerSecond> parse_rate(std::string_view text) {
  auto const parsed = parse_with(text, kRateUnits, "bandwidth", "24.5 GB/s", {kMinBytesPerSecond, kMaxBytesPerSecond});
  if (!parsed.value) return {{}, parsed.problem};
  return {BytesPerSecond(*parsed.value), {}};
}

Parsed<Seconds> parse_seconds(std::string_view text) {
  auto const parsed = parse_with(text, kTimeUnits, "time", "350 ns", {0, kMaxSeconds, true});
  if (!parsed.value) return {{}, parsed.problem};
  return {Seconds(*parsed.value), {}};
}

Parsed<PerSecond> parse_frequency(std::string_view text) {
  auto const parsed = parse_with(text, kFrequencyUnits, "frequency", "215 M/s", {kMinPerSecond, kMaxPerSecond});
  if (!parsed.value) return {{}, parsed.problem};
  return {PerSecond(*parsed.value), {}};
}

Parsed<Flop> parse_flop(std::string_view text) {
  auto const parsed = parse_with(text, kFlopUnits, "number of operations", "1.2 TFLOP", {kMinFlop, kMaxFlop});
  if (!parsed.value) return {{}, parsed.problem};
  return {Flop(*parsed.value), {}};
}

Parsed<FlopPerSecond> parse_flop_rate(std::string_view text) {
  auto const parsed =
      parse_with(text, kFlopRateUnits, "rate of operations", "312 TFLOP/s", {kMinFlopPerSecond, kMaxFlopPerSecond});
  if (!parsed.value) return {{}, parsed.problem};
  return {FlopPerSecond(*parsed.value), {}};
}

Parsed<Watts> parse_watts(std::string_view text) {
  auto const parsed = parse_with(text, kWattUnits, "power", "700 W", {kMinWatts, kMaxWatts});
  if (!parsed.value) return {{}, parsed.problem};
  return {Watts(*parsed.value), {}};
}

Parsed<double> parse_ratio(std::string_view text) {
  auto const number = split_number(text);
  if (!number || (!number->unit.empty() && number->unit != "%"))
    return {{}, fmt::format("'{}' is not a ratio; write '2 %' or '0.02'", text)};
  if (number->value < 0) return {{}, fmt::format("'{}' must be zero or more", text)};
  auto const value = number->unit == "%" ? number->value / 100 : number->value;
  if (value > kMaxRatio)
    return {{}, fmt::format("'{}' is too large; at most {:.0f}, or {:.0f} %", text, kMaxRatio, kMaxRatio * 100)};
  return {value, {}};
}

std::string bytes_pattern() { return pattern_with(kByteUnits, kNumber); }
std::string rate_pattern() { return pattern_with(kRateUnits, kPositive); }
std::string seconds_pattern() { return pattern_with(kTimeUnits, kNumber); }
std::string frequency_pattern() { return pattern_with(kFrequencyUnits, kPositive); }
std::string flop_pattern() { return pattern_with(kFlopUnits, kPositive); }
std::string flop_rate_pattern() { return pattern_with(kFlopRateUnits, kPositive); }
std::string watts_pattern() { return pattern_with(kWattUnits, kPositive); }
std::string ratio_pattern() { return fmt::format("^ *{} *%? *$", kNumber); }

std::string exact_text(Bytes size) {
  auto const value = size.value();
  std::int64_t divisor = 1;
  std::string_view name = "B";
  for (auto const& unit : std::span(kByteUnits).subspan(1, 4)) {
    auto const scale = static_cast<std::int64_t>(unit.scale);
    if (value != 0 && value % scale == 0) divisor = scale, name = unit.name;
  }
  return fmt::format("{} {}", value / divisor, name);
}

std::string exact_text(BytesPerSecond rate) { return in_best_unit(rate.value(), std::span(kRateUnits).first(5)); }
std::string exact_text(Seconds time) { return time.value() == 0 ? "0 s" : in_best_unit(time.value(), kTimeUnits); }
std::string exact_text(PerSecond frequency) { return in_best_unit(frequency.value(), kFrequencyUnits); }
std::string exact_text(Flop work) { return in_best_unit(work.value(), kFlopUnits); }
std::string exact_text(FlopPerSecond rate) { return in_best_unit(rate.value(), kFlopRateUnits); }
std::string exact_text(Watts power) {
  return in_best_unit(power.value(), std::span(kWattUnits).subspan(1, 1));
}  // as datasheets do

std::string shortest_text(double value) { return fmt::format("{}", value); }

std::string rounded_text(BytesPerSecond rate) {
  auto const gigabytes = rate.value() / 1e9;
  if (!std::isfinite(gigabytes)) return "unlimited";
  if (gigabytes < 0.01) return fmt::format("{:.3g} MB/s", gigabytes * 1e3);
  return fmt::format("{:.{}f} GB/s", gigabytes, gigabytes < 10 ? 2 : 1);
}

std::string rounded_text(Seconds time) {
  auto const value = time.value();
  if (value < 1e-6) return fmt::format("{:.0f} ns", value * 1e9);
  if (value < 1e-3) return fmt::format("{:.{}f} us", value * 1e6, value < 1e-5 ? 2 : 1);
  if (value < 1) return fmt::format("{:.{}f} ms", value * 1e3, value < 1e-2 ? 2 : 1);
  return value < 1e7 ? fmt::format("{:.2f} s", value) : fmt::format("{:.4g} s", value);
}

}  // namespace lanewise
