#pragma once
#include <cstddef>
#include <string_view>

namespace lanewise {

// The offset of the first byte that is neither UTF-8 nor a printable character, or npos.
std::size_t first_non_text(std::string_view text);

}  // namespace lanewise
