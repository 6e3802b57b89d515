#pragma once
#include <cstddef>
#include <string_view>

namespace lanewise {

// The offset of the first byte that is not UTF-8 (RFC 3629), or npos.
std::size_t first_non_utf8(std::string_view text);

}  // namespace lanewise
