#pragma once
// Moves that one device does by itself: copy engines, kernels, and pages of Unified Memory.
#include "hw/cuda/moves/move.hpp"

namespace lanewise::hw {

// `bytes` from the start of `source` + from_offset to `target` + to_offset, by a copy engine behind what `stream`
// holds.
struct Piece {
  DeviceBuffer const& target;
  Bytes to_offset{0};
  DeviceBuffer const& source;
  Bytes from_offset{0};
  Bytes bytes{0};
};
void enqueue_copy(Piece const& piece, cudaStream_t stream);

// A copy engine of the device that drives.
class EngineCopy : public Move {
 public:
  EngineCopy(DeviceBuffer const& source, DeviceBuffer const& target, Device driver)
      : source_(source), target_(target), driver_(driver) {}
  [[nodiscard]] Device device() const override { return driver_; }
  [[nodiscard]] bool begins_with_copy() const override { return true; }
  void enqueue(cudaStream_t stream) override;

 private:
  DeviceBuffer const& source_;
  DeviceBuffer const& target_;
  Device driver_;
};

// Loads and stores, or atomics, by a kernel of the device that drives.
class KernelMove : public Move {
 public:
  KernelMove(DeviceBuffer& source, DeviceBuffer& target, Device driver, KernelShape shape, Op op)
      : source_(source), target_(target), driver_(driver), shape_(shape), op_(op) {}
  [[nodiscard]] Device device() const override { return driver_; }
  void enqueue(cudaStream_t stream) override;

 private:
  DeviceBuffer& source_;
  DeviceBuffer& target_;
  Device driver_;
  KernelShape shape_;
  Op op_;
};

// A kernel that keeps its device busy for that long and moves nothing.
class Occupation : public Move {
 public:
  Occupation(Device device, KernelShape shape, Seconds work) : device_(device), shape_(shape), work_(work) {}
  [[nodiscard]] Device device() const override { return device_; }
  void enqueue(cudaStream_t stream) override;

 private:
  Device device_;
  KernelShape shape_;
  Seconds work_;
};

// Adds the source to the target, by a kernel of the target's device that reads the source where it is.
class AddingMove : public Move {
 public:
  AddingMove(DeviceBuffer const& source, DeviceBuffer const& target) : source_(source), target_(target) {}
  [[nodiscard]] Device device() const override { return target_.device(); }
  void enqueue(cudaStream_t stream) override;

 private:
  DeviceBuffer const& source_;
  DeviceBuffer const& target_;
};

// Lets bytes arrive by another move, then adds them to the target.
class ArrivalAndAddition : public Move {
 public:
  ArrivalAndAddition(std::unique_ptr<Move> arrival, DeviceBuffer const& arrived, DeviceBuffer const& target);
  [[nodiscard]] Device device() const override { return addition_.device(); }
  void enqueue(cudaStream_t stream) override;
  void prepare() override { arrival_->prepare(); }
  void rethrow() override { arrival_->rethrow(); }

 private:
  std::unique_ptr<Move> arrival_;
  AddingMove addition_;
  Stream arriving_;
  Event begin_, arrived_;
};

// Where pages of Unified Memory are: on a device, or in host memory.
struct PagePlace {
  bool on_device = false;
  int id = 0;  // the device, or the NUMA node
};

// Pages asked for ahead, or fetched by the faults of a kernel that reads them.
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
// Moves the pages and waits for them.
void place_pages(DeviceBuffer const& pages, PagePlace where, Device driver);

}  // namespace lanewise::hw
