#pragma once
// Which figures of a machine to measure: single transfers between all places, which calibration fits, and patterns of
// several transfers at once, which it must predict. Of a cluster those between nodes: what is within one is that node's
// own machine.
#include <string>
#include <vector>

#include "core/measurement/measurement.hpp"

namespace lanewise {

struct Worklist {
  bool singles = true;
  bool patterns = true;
  Bytes max_bytes{std::int64_t{1} << 30};  // of the largest transfer
  // Of clusters: a few sizes, to see whether all nodes do what they should.
  bool quick = false;
  std::vector<std::string> drives = {};  // of one machine: those that something stands for
};

// Series without values, in the order in which to measure them. Small transfers come first in a series, so that an
// early stop still leaves figures from all over the machine. Leaves out transfers that the rules refuse.
std::vector<MeasuredSeries> series_to_measure(Model const& model, Worklist const& wanted);

}  // namespace lanewise
