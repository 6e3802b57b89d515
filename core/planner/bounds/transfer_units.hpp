#pragma once
#include "core/solver/linear_program.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise {

// The units of linear programs about transfers. Those of JSON are other functions: core/io/json.hpp.
inline double program_rate(BytesPerSecond rate) { return rate.value() * kMillisecond / kMegabyte; }
inline double milliseconds(Seconds time) { return time.value() / kMillisecond; }

}  // namespace lanewise
