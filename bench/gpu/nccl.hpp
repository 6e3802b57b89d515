#pragma once
// NCCL's collectives on the GPUs of a machine, timed as ours are: behind a gate that opens on all GPUs at once, to the
// end of the last of them, with links awake.
#include <nccl.h>

#include <map>
#include <memory>
#include <vector>

#include "core/plan/collective.hpp"
#include "hw/cuda/devices.hpp"
#include "hw/cuda/moves/links.hpp"
#include "hw/cuda/timing/release_gate.hpp"
#include "hw/repetition.hpp"

namespace lanewise::hw {

struct CommunicatorTraits {
  using type = ncclComm_t;
  static type null() { return nullptr; }
  static void destroy(type communicator) noexcept { ncclCommDestroy(communicator); }
};
using Communicator = Handle<CommunicatorTraits>;

class Nccl {
 public:
  // Of all GPUs of `devices`; `most` is what one of them holds at most; `links` joins them all.
  Nccl(Devices const& devices, Links const& links, Bytes most);

  struct Sample {
    Seconds time{0};           // median
    bool began_early = false;  // NCCL made the host wait, so the time says little
  };
  // `bytes` as in Collective. Only all_reduce, all_gather, reduce_scatter and all_to_all.
  Sample time(CollectiveOp op, Bytes bytes, Repetition repetition);

  static std::string version();

 private:
  struct Gpu {
    Device device;
    Communicator communicator;
    Stream stream;
    Event begin, end;
    DeviceMemory data, output;
  };
  void enqueue(CollectiveOp op, std::size_t elements);
  void enqueue(CollectiveOp op, std::size_t elements, std::size_t rank);
  [[nodiscard]] Seconds once(CollectiveOp op, std::size_t elements);

  Links const& links_;
  std::vector<Gpu> gpus_;
  ReleaseGate gate_;
  bool began_early_ = false;
};

}  // namespace lanewise::hw
