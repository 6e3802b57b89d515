#pragma once
// Which figures of a machine to measure: single transfers between all places, which calibration fits, and patterns of
// several transfers at once, which it must predict.
#include "core/measurement/measurement.hpp"

namespace lanewise {

struct Worklist {
  bool singles = true;
  bool patterns = true;
  Bytes max_bytes{std::int64_t{1} << 30};  // of the largest transfer
};

// Series without values, in the order in which to measure them. Small transfers come first in a series, so that an
// early stop still leaves figures from all over the machine. Leaves out transfers that the rules refuse.
std::vector<MeasuredSeries> series_to_measure(Model const& model, Worklist const& wanted);

}  // namespace lanewise
