#pragma once
// Which figures of a machine are worth measuring: single transfers between all places, which calibration needs, and
// patterns of many at once, which it has to predict.
#include "core/measurement/measurement.hpp"

namespace lanewise {

struct Worklist {
  bool singles = true;
  bool patterns = true;
  Bytes max_bytes{std::int64_t{1} << 30};  // no transfer is larger
};

// Series without values, in the order in which to measure; small ones first within a series, so that what is there
// after an early stop covers the machine. Ways that the rules refuse are left out.
std::vector<MeasuredSeries> series_to_measure(Model const& model, Worklist const& wanted);

}  // namespace lanewise
