#pragma once
// Runs a plan on real GPUs: everything is enqueued before a gate opens on all devices at once, so no host stands
// between steps; every destination is checked on the device after every run.
#include <memory>

#include "core/model/model.hpp"
#include "core/plan/executor.hpp"
#include "hw/repetition.hpp"

namespace lanewise::hw {

class Devices;

class CudaExecutor : public Executor {
 public:
  // Throws MissingError when what the machine says is not here, InputError when it is another machine.
  CudaExecutor(Model const& model, Repetition repetition);
  CudaExecutor(CudaExecutor const&) = delete;
  CudaExecutor& operator=(CudaExecutor const&) = delete;
  ~CudaExecutor() override;

  // Times are medians over the repetitions, from the common release. Throws DeviceError naming the step that failed;
  // nothing is left allocated. A wrong byte is no exception: the step's trace says which.
  Trace run(Plan const& plan) override;

 private:
  Model const& model_;
  Repetition repetition_;
  std::unique_ptr<Devices> devices_;
};

}  // namespace lanewise::hw
