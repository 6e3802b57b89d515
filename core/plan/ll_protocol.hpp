#pragma once
// How the steps of small collectives travel: as lines, 8 bytes of data with a flag beside every 4 (as in NCCL's LL
// protocol). Whoever needs them polls the data themselves, so no flag is waited for before, between or behind, and the
// link carries twice as much.
#include <span>

#include "core/plan/plan.hpp"

namespace lanewise {

inline constexpr Bytes kLLElement{8};
inline constexpr std::size_t kMaxLLSteps = 64;  // that one GPU sends and gets

// A region that steps read and write as a whole.
struct ElementRange {
  BufferId buffer{};
  Bytes offset, bytes;
  friend auto operator<=>(ElementRange const&, ElementRange const&) = default;
};

// Whether these steps do: all are a kernel's accesses between shared buffers, of whole elements, few and of few bytes,
// and none touches a part of what another writes.
bool uses_ll_protocol(std::span<Step const> steps);

}  // namespace lanewise
