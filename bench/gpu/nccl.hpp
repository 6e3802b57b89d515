#pragma once
// NCCL's collectives on the GPUs of a machine, timed as the executor's: behind a gate that opens on all GPUs at once,
// to the end of the last GPU, with links awake.
#include <nccl.h>

#include <map>
#include <memory>
#include <vector>

#include "hw/cuda/devices/devices.hpp"
#include "hw/cuda/moves/links.hpp"
#include "hw/cuda/timing/release_gate.hpp"
#include "hw/options/repetition.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise::hw {

struct CommunicatorTraits {
  using type = ncclComm_t;
  static type null() { return nullptr; }
  static void destroy(type communicator) noexcept { ncclCommDestroy(communicator); }
};
using Communicator = Handle<CommunicatorTraits>;

class Nccl {
 public:
  // For all GPUs of `devices`, which `links` joins. `max_bytes`: the largest data of one GPU.
  Nccl(Devices const& devices, Links& links, Bytes max_bytes);

  struct Sample {
    Seconds time{0};           // median
    bool began_early = false;  // NCCL made the host wait, so the time is not exact
  };
  // `bytes` as in Collective; any op but all_to_all_v and chain. The first GPU is the root.
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
  void exchange_with_root(CollectiveOp op, std::size_t elements, std::size_t rank);
  [[nodiscard]] Seconds once(CollectiveOp op, std::size_t elements);

  Links& links_;
  std::vector<Gpu> gpus_;
  ReleaseGate gate_;
  bool began_early_ = false;
};

}  // namespace lanewise::hw
