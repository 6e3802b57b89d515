#pragma once
// What kind of point a measured figure is: of which GPUs, and how many transfers at once. Errors are reported by both.
#include <array>
#include <cstdint>
#include <string_view>

#include "core/measurement/measurement.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Ampere includes Ada. Other: no GPU, or one that its part does not place.
enum class GpuGeneration : std::uint8_t { BeforeAmpere, Ampere, Hopper, Blackwell, Amd, Other };
std::string_view to_string(GpuGeneration generation);

enum class AtOnce : std::uint8_t { One, BothWays, Several, Collective };
inline constexpr std::array kEachAtOnce{AtOnce::One, AtOnce::BothWays, AtOnce::Several, AtOnce::Collective};
std::string_view to_string(AtOnce at_once);

// The generation of the first GPU of the flows, or of the machine where they name none.
GpuGeneration gpu_generation(Machine const& machine, MeasuredPoint const& point);
AtOnce at_once(MeasuredPoint const& point);

}  // namespace lanewise
