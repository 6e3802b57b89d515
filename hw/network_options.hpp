#pragma once
#include <cstdint>

namespace lanewise::hw {

// How a process learns that a NIC is done: it asks again and again, or sleeps until the NIC's interrupt.
enum class Completion : std::uint8_t { Polling, Events };

}  // namespace lanewise::hw
