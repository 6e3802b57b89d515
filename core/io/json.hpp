#pragma once
// Reads JSON files with positions in errors, and converts quantities so that they read back unchanged.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "lanewise/io/error.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise {

// Whether a text is a JSON object rather than YAML or plain text: its first character is a brace.
bool is_json(SourceText const& source);

// Throws InputError with line and column when the text is not JSON, is nested too deeply, or its key "lanewise" does
// not hold `schema`.
nlohmann::ordered_json parse_json(SourceText const& source, std::string_view schema);
// The same where files of several versions are read; an error asks for the first of them.
nlohmann::ordered_json parse_json(SourceText const& source, std::span<std::string_view const> schemas);

// What is wrong with the content of a file, without the library's words: "it has no 'drive'".
std::string reason_of(nlohmann::ordered_json::exception const& error);

// A whole number from 0 to `max`, and a size in bytes. Throw InputError where the value is none.
std::int64_t whole_number(nlohmann::ordered_json const& value, std::int64_t max);
Bytes size_from(nlohmann::ordered_json const& value);

// JSON has times in microseconds and rates in GB/s. For every v that from_x returned, from_x(x(v)) == v: a file that
// was read is written again unchanged, and its values compare equal.
double microseconds(Seconds time);
Seconds from_microseconds(double value);
double gigabytes_per_second(BytesPerSecond rate);
BytesPerSecond from_gigabytes_per_second(double value);

// The nearest time or rate that is unchanged by a round trip through JSON.
inline Seconds through_json(Seconds time) { return from_microseconds(microseconds(time)); }
inline BytesPerSecond through_json(BytesPerSecond rate) {
  return from_gigabytes_per_second(gigabytes_per_second(rate));
}

}  // namespace lanewise
