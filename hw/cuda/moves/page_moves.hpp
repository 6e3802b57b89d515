#pragma once
// Moves of Unified Memory: pages migrate between devices and host memory.
#include <memory>

#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/memory/device_buffer.hpp"
#include "hw/cuda/moves/move.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::hw {

// Where pages of Unified Memory are: on a device or in host memory.
struct PagePlace {
  bool on_device = false;
  int id = 0;  // the device, or the NUMA node
};

// Moves pages by a prefetch, or by the faults of a kernel that reads them.
class PageMove : public Move {
 public:
  PageMove(DeviceBuffer& pages, PagePlace from, PagePlace to, Device driver, KernelShape shape, Op op);
  [[nodiscard]] Device device() const override { return driver_; }
  void enqueue(cudaStream_t stream) override;
  void prepare() override;

 private:
  DeviceBuffer& pages_;
  PagePlace from_, to_;
  Device driver_;
  KernelShape shape_;
  Op op_;
  DeviceMemory sink_;
};

// Moves pages to the host by faults of a CPU core of `numa`, which reads one word of every page. They begin at `from`.
std::unique_ptr<Move> host_fault_move(Device driver, NumaIndex numa, DeviceBuffer const& pages, PagePlace from);

}  // namespace lanewise::hw
