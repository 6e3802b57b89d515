#pragma once
// A machine whose figures are known, and what measuring it would give: the model's own figures with noise on them.
#include <random>
#include <string>
#include <vector>

#include "core/calibration/adjustable.hpp"
#include "core/measurement/measurement.hpp"

namespace lanewise::test {

// The true value of a figure, which calibration does not see.
struct Hidden {
  std::string name;  // of a part, or of one thing
  std::string key;
  double factor;
};

// The machine with its figures changed.
Machine with_hidden(Machine machine, std::vector<Hidden> const& hidden);
// The figure in use of a part, or of one thing.
double figure_of(Machine const& machine, std::string const& name, std::string const& key);

// What `lanewise measure` would write of single transfers on the machine: every pair by copy engine, pushed and pulled,
// and by kernels, both ways at once, staged by the driver, local, and with host memory, over sizes. 1 % noise, and one
// figure in a hundred grossly wrong.
Measurement singles_of(Machine const& machine, std::uint32_t seed);

MeasuredSeries series_of(std::string name, Mechanism mechanism, Op op = Op::Copy);
MeasuredPoint point_of(std::vector<MeasuredFlow> flows, Bytes bytes, double value = 0);

// Patterns of transfers released together: fan-in, fan-out, shifts, all to all, all to and from the host, mixed.
struct Pattern {
  std::string name;
  std::vector<MeasuredFlow> flows;
};
std::vector<Pattern> patterns_of(Machine const& machine);

}  // namespace lanewise::test
