#pragma once
// An overlay over a machine file: figures of its parts as measured on one such machine, each with its interval and the
// number of points that support it. The machine file itself stays as it is.
//
//   auto const overlay = read_calibration(SourceText::load("mine.calibration.yaml"));
//   apply(overlay, machine);                 // throws InputError if it is for another machine
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/calibration/adjustable.hpp"
#include "core/io/yaml.hpp"
#include "lanewise/io/file.hpp"

namespace lanewise {

struct CalibratedValue {
  std::string part, at;  // one of the two: the part everywhere, or one device or link
  std::string key;
  double value = 0;                        // seconds, bytes per second or a fraction, as the key says
  double low = 0, high = 0;                // 95 % confidence interval
  int points = 0;                          // measured figures that depend on it
  std::vector<std::string> together_with;  // figures it cannot be separated from: only their joint effect was measured
  SourcePos pos = {};
};

struct UnidentifiedValue {
  std::string part, at;
  std::string key;
  std::string reason;
};

// The measurement that the figures were fitted to.
struct MeasurementStamp {
  std::string name;
  std::string date;
  std::string source;
  std::string digest;  // FNV-1a digest of the file
  std::map<std::string, std::string> environment;
  friend bool operator==(MeasurementStamp const&, MeasurementStamp const&) = default;
};

struct Calibration {
  std::string machine;
  std::string fingerprint;  // of the machine without settings and without this overlay
  MeasurementStamp measurement;
  std::vector<CalibratedValue> values;
  std::vector<UnidentifiedValue> unidentified;
  SourcePos pos = {};
};

MapSpec const& calibration_spec();
// Reads `lanewise: calibration/1`. Throws InputError listing every problem.
Calibration read_calibration(SourceText const& source);
// The file as a tree of keys, and as YAML. Both read back to the same values, which have six digits.
nlohmann::ordered_json calibration_tree(Calibration const& calibration);
std::string write_calibration(Calibration const& calibration);

// Sets the values in the machine, which must be as its file describes it. Throws InputError if the overlay is for
// another machine or names something that the machine does not have.
void apply(Calibration const& calibration, Machine& machine);

// The dimension of a key; nullopt if no part has such an adjustable figure.
std::optional<Dimension> dimension_of_key(std::string_view key);
// "1.23 us", "24.5 GB/s", "0.881": as files have it, and rounded for people.
std::string exact_text(Dimension unit, double value);
std::string rounded_text(Dimension unit, double value);
// Rounds to the six digits that a file keeps.
double rounded_to_file_digits(double value);

}  // namespace lanewise
