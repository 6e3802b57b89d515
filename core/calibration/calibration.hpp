#pragma once
// An overlay over a machine file: figures of its parts as they were measured on one such machine, each with its
// interval and how many measured points it hangs on. It never edits the machine file.
//
//   auto const overlay = read_calibration(SourceText::load("mine.calibration.yaml"));
//   apply(overlay, machine);                 // throws InputError when it is of another machine
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/calibration/adjustable.hpp"
#include "core/io/file.hpp"
#include "core/io/yaml.hpp"

namespace lanewise {

struct CalibratedValue {
  std::string part, at;  // one of them: wherever the part is built in, or the one thing of this name
  std::string key;
  double value = 0;                        // in the unit of its key: seconds, bytes per second, or a share
  double low = 0, high = 0;                // holds the true figure 95 times out of 100
  int points = 0;                          // measured figures that hang on it
  std::vector<std::string> together_with;  // known only together with these: their errors make up for one another
  SourcePos pos = {};
};

struct UnidentifiedValue {
  std::string part, at;
  std::string key;
  std::string reason;
};

// What the figures were fitted to.
struct MeasurementStamp {
  std::string name;
  std::string date;
  std::string source;
  std::string digest;  // of the file
  std::map<std::string, std::string> environment;
  friend bool operator==(MeasurementStamp const&, MeasurementStamp const&) = default;
};

struct Calibration {
  std::string machine;
  std::string fingerprint;  // of the machine without settings and without this
  MeasurementStamp measurement;
  std::vector<CalibratedValue> values;
  std::vector<UnidentifiedValue> unidentified;
  SourcePos pos = {};
};

MapSpec const& calibration_spec();
// Reads `lanewise: calibration/1`. Throws InputError with everything that is wrong.
Calibration read_calibration(SourceText const& source);
// The file, as a tree of keys and as YAML; it reads back to the same values, which have six digits.
nlohmann::ordered_json calibration_tree(Calibration const& calibration);
std::string write_calibration(Calibration const& calibration);

// Puts the values into the machine, which must be as its file says. Throws InputError when the overlay is of another
// machine, or names what it does not have.
void apply(Calibration const& calibration, Machine& machine);

// The unit of a key, or nothing where no part has such an adjustable figure.
std::optional<Dimension> dimension_of_key(std::string_view key);
// "1.23 us", "24.5 GB/s", "0.881": exactly, and rounded for people.
std::string exact_text(Dimension unit, double value);
std::string rounded_text(Dimension unit, double value);
// The nearest number with six digits, which survives the way through a file.
double rounded_to_file_digits(double value);

}  // namespace lanewise
