#pragma once
// Measures transfers: on hardware, or a fake in tests.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/plan/plan.hpp"

namespace lanewise {

// A median over repetitions.
struct Sample {
  Seconds time{0};
  double spread = 0;                 // of the repetitions: (95th - 5th percentile) / median
  std::optional<double> noise = {};  // of the median: half its 95 % confidence interval / median; absent: too few
  int repetitions = 0;
};

class Meter {
 public:
  Meter() = default;
  Meter(Meter const&) = delete;
  Meter& operator=(Meter const&) = delete;
  virtual ~Meter() = default;

  // The time of one transfer, measured as its share of many in a row in one stream. Throws PlanError if the step cannot
  // run here, DeviceError if it fails or delivers wrong bytes.
  virtual Sample alone(Step const& step) = 0;
  // Several steps that start together: the time to the end of the last one. Throws as alone().
  virtual Sample together(std::vector<Step> const& steps) = 0;
  // What the figures may depend on: driver, runtime, GPUs, clocks.
  [[nodiscard]] virtual std::map<std::string, std::string> environment() const = 0;
};

}  // namespace lanewise
