#include "python/values.hpp"

#include <fmt/format.h>

namespace lanewise::python {

Bytes bytes_of(Size const& size) {
  if (auto const* text = std::get_if<std::string>(&size)) return value_of(parse_bytes(*text));
  auto const number = std::get<std::int64_t>(size);
  if (number < 0) throw InputError(fmt::format("a size is not negative: {}", number));
  return Bytes(number);
}

double in_us(Seconds time) { return time.value() * 1e6; }
double in_gigabytes_per_second(BytesPerSecond rate) { return rate.value() / 1e9; }

std::optional<double> in_us(std::optional<Seconds> time) { return time ? std::optional(in_us(*time)) : std::nullopt; }

std::optional<double> in_gigabytes_per_second(std::optional<BytesPerSecond> rate) {
  return rate ? std::optional(in_gigabytes_per_second(*rate)) : std::nullopt;
}

std::optional<std::pair<double, double>> in_us(std::optional<TimeRange> const& range) {
  return range ? std::optional(std::pair(in_us(range->low), in_us(range->high))) : std::nullopt;
}

std::optional<std::string> text_or_none(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

py::object dict_of(std::string const& json_text) { return py::module_::import("json").attr("loads")(json_text); }

}  // namespace lanewise::python
