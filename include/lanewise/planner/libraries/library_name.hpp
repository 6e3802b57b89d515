#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "lanewise/units/text.hpp"

namespace lanewise {

enum class LibraryKind : std::uint8_t {
  Nccl,
  Rccl,
  Mpi,     // Open MPI with GPU buffers
  OneShot  // the kernels of inference engines
};

// A library that does collectives. NCCL's decisions were read in the source of 2.18 to 2.30; of the others one version
// is known, which docs/libraries.md names.
struct Library {
  LibraryKind kind = LibraryKind::Nccl;
  int major = 2;
  int minor = 30;
  friend auto operator<=>(Library const&, Library const&) = default;
};
std::string to_string(Library const& library);         // "nccl-2.30", "rccl"
Parsed<Library> parse_library(std::string_view text);  // nccl, nccl-2.18, ..., nccl-2.30, rccl, mpi, oneshot

}  // namespace lanewise
