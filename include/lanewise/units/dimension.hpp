#pragma once
#include <cstdint>

namespace lanewise {

// What a plain number stands for, where a file's key decides it: bytes per second, seconds, or a plain ratio.
enum class Dimension : std::uint8_t { Rate, Time, Ratio };

}  // namespace lanewise
