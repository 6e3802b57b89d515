#pragma once
// What GPUs compute between transfers: a time, or operations and bytes from which the roofline gives one.
#include <string_view>
#include <vector>

#include "core/model/model.hpp"

namespace lanewise {

enum class Precision : std::uint8_t { Fp32, Fp16 };
std::string_view to_string(Precision precision);
std::vector<std::string> precision_names();
Parsed<Precision> parse_precision(std::string_view text);

// The same work on each of some GPUs.
struct Compute {
  std::vector<Place> on;
  Seconds time{0};  // 0: by the roofline
  Flop flop{0};
  Precision precision = Precision::Fp32;
  Bytes bytes{0};  // of the GPU's own memory, read and written
  friend bool operator==(Compute const&, Compute const&) = default;
};

// How long it takes there at least: the longer of its operations at the part's peak rate and its bytes at the memory's
// (Williams, Waterman and Patterson, Roofline, 2009). Throws PlanError when the place is no GPU, or a figure is
// unknown.
Seconds compute_time(Model const& model, Compute const& compute, Place const& on);

}  // namespace lanewise
