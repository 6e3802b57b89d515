#pragma once
// Works through a list of series with a meter; what is measured already is not measured again.
#include <functional>

#include "core/measurement/meter.hpp"
#include "core/measurement/worklist.hpp"

namespace lanewise {

struct MeasuringProgress {
  std::size_t done = 0, all = 0;  // points
  Seconds left{0};                // estimate, from what the model expects and how that has held so far
  std::string what;               // the series in hand
};

struct MeasuringObserver {
  std::function<void(MeasuringProgress const&)> progress = [](MeasuringProgress const&) {};
  std::function<void(Measurement const&)> save = [](Measurement const&) {};  // after every series
  std::function<void(std::string const&)> skipped = [](std::string const&) {};
};

// `so_far`: a measurement of the same machine to go on with; its points are kept. Points that cannot be taken here are
// left out, and `skipped` is told why. Throws what the meter throws otherwise; what was saved is whole.
Measurement measure(Model const& model, Meter& meter, std::vector<MeasuredSeries> const& series, Measurement so_far,
                    MeasuringObserver const& observer);

}  // namespace lanewise
