#pragma once
// Moves that one device does by itself, with copy engines or kernels.
#include <memory>

#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/memory/device_buffer.hpp"
#include "hw/cuda/moves/move.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::hw {

// `bytes` from `from_offset` in `source` to `to_offset` in `target`.
struct BufferCopy {
  DeviceBuffer const& target;
  Bytes to_offset{0};
  DeviceBuffer const& source;
  Bytes from_offset{0};
  Bytes bytes{0};
};
// Enqueues the copy for a copy engine, behind what `stream` holds.
void enqueue_copy(BufferCopy const& copy, cudaStream_t stream);

// A copy by a copy engine of the device that drives.
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

// A copy by loads and stores, or an addition by atomics, in a kernel of the device that drives.
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

// A kernel that keeps its device busy for the time `work` and moves nothing.
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

// Adds the source to the target: a kernel of the target's device reads the source from where it is.
class AddMove : public Move {
 public:
  AddMove(DeviceBuffer const& source, DeviceBuffer const& target) : source_(source), target_(target) {}
  [[nodiscard]] Device device() const override { return target_.device(); }
  void enqueue(cudaStream_t stream) override;

 private:
  DeviceBuffer const& source_;
  DeviceBuffer const& target_;
};

// Lets bytes arrive by another move and then adds them to the target.
class CopyThenAdd : public Move {
 public:
  CopyThenAdd(std::unique_ptr<Move> arrival, DeviceBuffer const& arrived, DeviceBuffer const& target);
  [[nodiscard]] Device device() const override { return addition_.device(); }
  void enqueue(cudaStream_t stream) override;
  [[nodiscard]] std::size_t commands() const override { return arrival_->commands() + Move::commands(); }
  void prepare() override { arrival_->prepare(); }
  void rethrow() override { arrival_->rethrow(); }

 private:
  std::unique_ptr<Move> arrival_;
  AddMove addition_;
  Stream arriving_;
  Event begin_, arrived_;
};

}  // namespace lanewise::hw
