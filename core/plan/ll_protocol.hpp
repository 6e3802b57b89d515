#pragma once
// The low-latency protocol for small collectives, as NCCL's LL: each element of 8 bytes travels with a flag beside
// every 4 bytes. The reader polls the data themselves, so no step waits for separate flags; the link carries twice as
// much.
#include <span>

#include "lanewise/plan/plan.hpp"

namespace lanewise {

inline constexpr Bytes kLLElement{8};
inline constexpr std::size_t kMaxLLSteps = 64;  // that one GPU sends and receives

// A range of elements that steps read and write as a whole.
struct ElementRange {
  BufferId buffer{};
  Bytes offset, bytes;
  friend auto operator<=>(ElementRange const&, ElementRange const&) = default;
};

// Whether a plan's steps use it: all are a kernel's accesses between shared buffers, of whole elements; each GPU has at
// most kMaxLLSteps and sends at most 1 MiB; no step writes a part of a range that another one reads or writes.
bool uses_ll_protocol(std::span<Step const> steps);

}  // namespace lanewise
