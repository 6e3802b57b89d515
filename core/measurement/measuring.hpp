#pragma once
// Measures a list of series with a meter. Points that are measured already are skipped.
#include <functional>

#include "core/measurement/meter.hpp"
#include "core/measurement/worklist.hpp"

namespace lanewise {

struct MeasuringProgress {
  std::size_t done = 0, all = 0;  // points
  Seconds left{0};   // estimated from the model's predictions and from how they compare with the time taken so far
  std::string what;  // the current series
};

struct MeasuringObserver {
  std::function<void(MeasuringProgress const&)> progress = [](MeasuringProgress const&) {};
  std::function<void(Measurement const&)> save = [](Measurement const&) {};  // after every series
  std::function<void(std::string const&)> skipped = [](std::string const&) {};
  std::function<void(std::string const&)> noisy = [](std::string const&) {};  // a figure that stays above kMaxNoise
};

// Continues `so_far`, a measurement of the same machine, and keeps its points. Leaves out points that cannot be
// measured here and passes the reason to `skipped`. Repeats reference transfers after every series, whose spread
// becomes the measurement's `noise`. Throws the meter's other errors; `save` has received every finished series.
Measurement measure(Model const& model, Meter& meter, std::vector<MeasuredSeries> const& series, Measurement so_far,
                    MeasuringObserver const& observer);

}  // namespace lanewise
