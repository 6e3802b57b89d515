#pragma once
// The NVLinks that a product always has, for sources that list none: lspci, most files of hwloc, nvidia-smi -q -x,
// static topology files of NCCL.
#include <cstddef>
#include <vector>

#include "core/interop/machines/machine_builder.hpp"

namespace lanewise {

// How the GPUs of a product are linked on one board.
struct ProductLinks {
  struct Pair {
    std::size_t a = 0, b = 0;  // positions in the list of GPUs
    int count = 0;
  };
  int to_switch = 0;  // links of each GPU to NVSwitches
  std::vector<Pair> pairs;
};
// Of so many GPUs; no links where the product has none between GPUs, or its wiring is not known.
ProductLinks product_links(Part const& gpu, std::size_t gpus);

// Adds them to a machine that has no NVLink, where all its GPUs are one product. Notes say that they are inferred, and
// that --gpu names another product. `gpus`: in the order in which the board numbers them.
void add_product_links(std::vector<PciId> const& gpus, MachineBuilder& builder);

}  // namespace lanewise
