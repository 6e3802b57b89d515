#pragma once
// The protocols of NCCL's kernels, which RCCL has too: how a receiver sees that data have come.
#include <cstdint>
#include <string_view>

namespace lanewise {

enum class Protocol : std::uint8_t { LL, LL128, Simple };
std::string_view to_string(Protocol protocol);  // LL, LL128, Simple

// What a byte of data is on a link: LL sends a flag with every word, LL128 with every 120 bytes.
double bytes_on_link(Protocol protocol);

}  // namespace lanewise
