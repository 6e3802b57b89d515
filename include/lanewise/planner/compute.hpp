#pragma once
// What GPUs compute between transfers: a time, or operations and bytes from which the roofline model gives one.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/model/model.hpp"

namespace lanewise {

enum class Precision : std::uint8_t { Fp32, Fp16 };
std::string_view to_string(Precision precision);
std::vector<std::string> precision_names();
Parsed<Precision> parse_precision(std::string_view text);

// The same work on each of some GPUs.
struct Compute {
  std::vector<Place> on;
  Seconds time{0};  // 0: computed from `flop` and `bytes`
  Flop flop{0};
  Precision precision = Precision::Fp32;
  Bytes bytes{0};  // read and written, in the GPU's own memory
  friend bool operator==(Compute const&, Compute const&) = default;
};

// The least time of the work on that GPU: its `time` if given, else the longer of its operations at the peak rate and
// its bytes at the memory bandwidth (roofline; Williams, Waterman and Patterson, 2009). Throws PlanError if the place
// is no GPU or a figure is unknown.
Seconds compute_time(Model const& model, Compute const& compute, Place const& on);

}  // namespace lanewise
