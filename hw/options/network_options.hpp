#pragma once
#include <cstdint>

namespace lanewise::hw {

// How a process learns of completions: it polls, or it sleeps until the NIC's interrupt.
enum class Completion : std::uint8_t { Polling, Events };

}  // namespace lanewise::hw
