#pragma once
// Runs a plan on real GPUs. Everything is enqueued before a gate opens on all devices at once, so no step waits for the
// host. After every run each destination is checked on its device.
#include <memory>

#include "hw/options/hardware_settings.hpp"
#include "hw/storage/drives.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise::hw {

class Devices;

class CudaExecutor : public Executor {
 public:
  // Throws MissingError when this machine lacks a GPU or driver that the model's machine has, InputError when its GPUs
  // are other parts, or for a drive's path as Drives does.
  CudaExecutor(Model const& model, HardwareSettings const& settings);
  CudaExecutor(CudaExecutor const&) = delete;
  CudaExecutor& operator=(CudaExecutor const&) = delete;
  ~CudaExecutor() override;

  // Times are medians over the repetitions, from the opening of the gate. Throws DeviceError naming the step that
  // failed; nothing stays allocated. A wrong byte is no exception: the step's trace names it.
  Trace run(Plan const& plan) override;
  std::unique_ptr<RepeatableRun> prepare(Plan const& plan) override;
  [[nodiscard]] bool is_exact() const override { return false; }

 private:
  Model const& model_;
  Repetition repetition_;
  std::unique_ptr<Devices> devices_;
  Drives drives_;
};

}  // namespace lanewise::hw
