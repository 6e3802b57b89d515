#include "core/io/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/units/limits.hpp"

namespace lanewise {
namespace {

constexpr int kMaxDepth = 64;

// The double nearest to value / scale whose product with `scale` is exactly `value`, if there is one.
double unscaled(double value, double scale) {
  double const guess = value / scale;
  for (double const candidate : {guess, std::nextafter(guess, -HUGE_VAL), std::nextafter(guess, HUGE_VAL)})
    if (candidate * scale == value) return candidate;
  return guess;
}

// Where a text stands first in the source; its beginning when it does not.
SourcePos position_of(SourceText const& source, std::string_view text) {
  auto const found = source.text().find(text);
  return source.position(found == std::string::npos ? 0 : found);
}

}  // namespace

std::string reason_of(nlohmann::ordered_json::exception const& error) {
  std::string_view reason(error.what());  // "[json.exception.out_of_range.403] key 'drive' not found"
  if (auto const name = reason.find("] "); name != std::string_view::npos) reason.remove_prefix(name + 2);
  constexpr int kNoSuchKey = 403;
  if (error.id == kNoSuchKey) {
    auto const key = reason.substr(reason.find_first_of('\''));
    return fmt::format("it has no {}", key.substr(0, key.find_last_of('\'') + 1));
  }
  return std::string(reason);
}

std::int64_t whole_number(nlohmann::ordered_json const& value, std::int64_t max) {
  auto const number = value.get<double>();
  if (!(number >= 0 && number <= static_cast<double>(max)) || number != std::floor(number))
    throw InputError(fmt::format("{} is not a whole number from 0 to {}", value.dump(), max));
  return value.get<std::int64_t>();
}
Bytes size_from(nlohmann::ordered_json const& value) {
  return Bytes(whole_number(value, static_cast<std::int64_t>(kMaxBytes)));
}

double microseconds(Seconds time) { return time.value() * 1e6; }
Seconds from_microseconds(double value) { return Seconds(unscaled(value, 1e6)); }
double gigabytes_per_second(BytesPerSecond rate) { return rate.value() * 1e-9; }
BytesPerSecond from_gigabytes_per_second(double value) { return BytesPerSecond(unscaled(value, 1e-9)); }

bool is_json(SourceText const& source) {
  auto const first = source.text().find_first_not_of(" \t\r\n");
  return first != std::string::npos && source.text()[first] == '{';
}

nlohmann::ordered_json parse_json(SourceText const& source, std::string_view schema) {
  return parse_json(source, std::span(&schema, 1));
}

nlohmann::ordered_json parse_json(SourceText const& source, std::span<std::string_view const> schemas) {
  nlohmann::ordered_json json;
  try {
    auto const shallow = [](int depth, nlohmann::ordered_json::parse_event_t, nlohmann::ordered_json&) {
      return depth < kMaxDepth;
    };
    json = nlohmann::ordered_json::parse(source.text(), shallow);
  } catch (nlohmann::ordered_json::parse_error const& error) {
    auto pos = source.position(error.byte > 0 ? error.byte - 1 : 0);
    throw InputError(std::vector<Diagnostic>{{pos, "not valid JSON here", std::string(source.line(pos.line))}});
  } catch (nlohmann::ordered_json::out_of_range const& error) {
    auto const reason = std::string_view(error.what());
    auto const quoted = reason.substr(reason.find_first_of('\''));
    auto const number = quoted.substr(1, quoted.find_last_of('\'') - 1);
    auto const pos = position_of(source, number);
    throw InputError(std::vector<Diagnostic>{
        {pos, fmt::format("a number is too large for a double: {}", quoted), std::string(source.line(pos.line))}});
  }
  auto const word = json.is_object() && json.contains("lanewise") && json["lanewise"].is_string()
                        ? json["lanewise"].get<std::string>()
                        : std::string();
  if (std::find(schemas.begin(), schemas.end(), word) == schemas.end())
    throw InputError(std::vector<Diagnostic>{
        {position_of(source, "\"lanewise\""),
         fmt::format("this is {}, but '{}' is needed here",
                     word.empty() ? "not a lanewise JSON file" : "'" + word + "'", schemas.front()),
         {}}});
  return json;
}

}  // namespace lanewise
