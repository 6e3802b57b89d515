#pragma once
// The seam between what is to be measured and what measures it: hardware, and a fake in tests.
#include <map>
#include <string>
#include <vector>

#include "core/plan/plan.hpp"

namespace lanewise {

// Medians over repetitions; `spread` is (p95 - p5) / median.
struct Sample {
  Seconds time{0};
  double spread = 0;
};

class Meter {
 public:
  Meter() = default;
  Meter(Meter const&) = delete;
  Meter& operator=(Meter const&) = delete;
  virtual ~Meter() = default;

  // One transfer, as when many follow one another in a stream: its share of their time. Throws PlanError when it cannot
  // be done here, DeviceError when it fails, or when a byte arrives wrong.
  virtual Sample alone(Step const& step) = 0;
  // Several released together: from there to the end of the last. Throws likewise.
  virtual Sample together(std::vector<Step> const& steps) = 0;
  // What the figures may hang on: driver, runtime, GPUs, clocks.
  [[nodiscard]] virtual std::map<std::string, std::string> environment() const = 0;
};

}  // namespace lanewise
