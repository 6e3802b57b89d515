#pragma once
#include <compare>
#include <string>
#include <string_view>

#include "lanewise/units/text.hpp"

namespace lanewise {

// NCCL of a version. Its decisions were read in the source of 2.18 to 2.30.
struct Library {
  int major = 2;
  int minor = 30;
  friend auto operator<=>(Library const&, Library const&) = default;
};
std::string to_string(Library const& library);         // "nccl-2.30"
Parsed<Library> parse_library(std::string_view text);  // nccl, nccl-2.18, ..., nccl-2.30

}  // namespace lanewise
