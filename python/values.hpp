#pragma once
// How values pass between Python and the library: sizes as numbers or texts, words as texts, JSON as dicts. At Python's
// side times are in microseconds and rates in GB/s, as in our files.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "lanewise/io/error.hpp"
#include "lanewise/plan/time_range.hpp"
#include "lanewise/units/quantity.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise::python {

namespace py = pybind11;

// A number of bytes, or a text such as "256 MiB".
using Size = std::variant<std::int64_t, std::string>;
// Throws InputError when the number is negative or the text is no size.
Bytes bytes_of(Size const& size);

// The value of a parsed text; throws InputError with the parser's reason when there is none.
template <class T>
T value_of(Parsed<T> parsed) {
  if (!parsed.value) throw InputError(parsed.problem);
  return *parsed.value;
}

double in_us(Seconds time);
double in_gigabytes_per_second(BytesPerSecond rate);
std::optional<double> in_us(std::optional<Seconds> time);
std::optional<double> in_gigabytes_per_second(std::optional<BytesPerSecond> rate);
std::optional<std::pair<double, double>> in_us(std::optional<TimeRange> const& range);

// A text, or None where it is empty.
std::optional<std::string> text_or_none(std::string_view text);

// A JSON text as Python's dicts and lists.
py::object dict_of(std::string const& json_text);

// What `work` returns, made while other Python threads run. It must not touch any Python object.
template <class Work>
auto without_gil(Work work) {
  py::gil_scoped_release const released;
  return work();
}
// The same of a tree of JSON, as dicts and lists: making and writing it may take longer than the work itself.
template <class Make>
py::object dict_from(Make make) {
  return dict_of(without_gil([&] { return make().dump(); }));
}

}  // namespace lanewise::python
