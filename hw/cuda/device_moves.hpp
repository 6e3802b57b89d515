#pragma once
// Moves that one device does by itself: copy engines, kernels, and pages of Unified Memory.
#include "hw/cuda/move.hpp"

namespace lanewise::hw {

// `bytes` from the start of `source` + from_offset to `target` + to_offset, by a copy engine behind what `stream`
// holds.
struct Piece {
  Buffer const& target;
  Bytes to_offset{0};
  Buffer const& source;
  Bytes from_offset{0};
  Bytes bytes{0};
};
void enqueue_copy(Piece const& piece, cudaStream_t stream);

// A copy engine of the device that drives.
class EngineCopy : public Move {
 public:
  EngineCopy(Buffer const& source, Buffer const& target, Device driver)
      : source_(source), target_(target), driver_(driver) {}
  [[nodiscard]] Device device() const override { return driver_; }
  void enqueue(cudaStream_t stream) override;

 private:
  Buffer const& source_;
  Buffer const& target_;
  Device driver_;
};

// Loads and stores, or atomics, by a kernel of the device that drives.
class KernelMove : public Move {
 public:
  KernelMove(Buffer& source, Buffer& target, Device driver, KernelShape shape, Op op)
      : source_(source), target_(target), driver_(driver), shape_(shape), op_(op) {}
  [[nodiscard]] Device device() const override { return driver_; }
  void enqueue(cudaStream_t stream) override;

 private:
  Buffer& source_;
  Buffer& target_;
  Device driver_;
  KernelShape shape_;
  Op op_;
};

// Where pages of Unified Memory are: on a device, or in host memory.
struct PagePlace {
  bool on_device = false;
  int id = 0;  // the device, or the NUMA node
};

// Pages asked for ahead, or fetched by the faults of a kernel that reads them.
class PageMove : public Move {
 public:
  PageMove(Buffer& pages, PagePlace from, PagePlace to, Device driver, KernelShape shape, Op op);
  [[nodiscard]] Device device() const override { return driver_; }
  void enqueue(cudaStream_t stream) override;
  void prepare() override;

 private:
  Buffer& pages_;
  PagePlace from_, to_;
  Device driver_;
  KernelShape shape_;
  Op op_;
  DeviceMemory sink_;
};
// Moves the pages and waits for them.
void place_pages(Buffer const& pages, PagePlace where, Device driver);

}  // namespace lanewise::hw
