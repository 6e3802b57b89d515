#pragma once
// Quantities as text: "256 MiB", "24.5 GB/s", "350 ns". A number without a unit is refused.
#include <optional>
#include <string>
#include <string_view>

#include "lanewise/units/quantity.hpp"

namespace lanewise {

// The result of parsing a text: a value, or a sentence that says what is wrong and what is allowed.
template <class T>
struct Parsed {
  std::optional<T> value;
  std::string problem;
};

// The text without leading and trailing `blanks`.
std::string_view trimmed(std::string_view text, std::string_view blanks = " ");

// The first `most` bytes of a text, less a UTF-8 character that ends beyond them.
std::string_view cut(std::string_view text, std::size_t most);

// "64 B", "4 KiB", "256 MiB", "80 GiB", "2 TiB", or decimal kB, MB, GB, TB. Never negative, never above 2^50 bytes.
Parsed<Bytes> parse_bytes(std::string_view text);
// "24.5 GB/s", "200 Gb/s" (bits), "1.5 GiB/s", "900 MB/s", "3.35 TB/s". Positive.
Parsed<BytesPerSecond> parse_rate(std::string_view text);
// "105 ns", "1.8 us", "2 ms", "1 s". Not negative.
Parsed<Seconds> parse_seconds(std::string_view text);
// "215 M/s", "19.2 k/s", "7 /s": events per second. Positive.
Parsed<PerSecond> parse_frequency(std::string_view text);
// "1.2 TFLOP", "350 GFLOP". Positive.
Parsed<Flop> parse_flop(std::string_view text);
// "312 TFLOP/s". Positive.
Parsed<FlopPerSecond> parse_flop_rate(std::string_view text);
// "700 W", "14.3 kW". Positive.
Parsed<Watts> parse_watts(std::string_view text);
// "2 %" as 0.02, or a bare ratio "0.8". Not negative.
Parsed<double> parse_ratio(std::string_view text);

// Regular expressions of what the parsers above accept, for the JSON Schema. An expression cannot say that a size is a
// whole number of bytes, nor its maximum; only the parsers check these.
std::string bytes_pattern();
std::string rate_pattern();
std::string seconds_pattern();
std::string frequency_pattern();
std::string flop_pattern();
std::string flop_rate_pattern();
std::string watts_pattern();
std::string ratio_pattern();

// Exact texts: parsing one gives the same value. "256 MiB", "24.5 GB/s", "350 ns".
std::string exact_text(Bytes size);
std::string exact_text(BytesPerSecond rate);
std::string exact_text(Seconds time);
std::string exact_text(PerSecond frequency);
std::string exact_text(Flop work);
std::string exact_text(FlopPerSecond rate);
std::string exact_text(Watts power);
std::string shortest_text(double value);  // a bare number, "0.8"

// Rounded texts for tables and sentences: "26.2 GB/s", "10.1 ms".
std::string rounded_text(BytesPerSecond rate);
std::string rounded_text(Seconds time);

}  // namespace lanewise
