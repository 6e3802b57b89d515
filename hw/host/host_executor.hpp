#pragma once
// Runs plans of a machine without a GPU: cores copy between host memories, and drives read and write them. Each step
// has a thread of its own, which waits for what the step waits for.
#include <map>
#include <memory>
#include <string>

#include "hw/options/hardware_settings.hpp"
#include "hw/storage/drives.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise::hw {

class HostExecutor : public Executor {
 public:
  // Throws InputError for a drive's path as Drives does. The model must outlive this.
  HostExecutor(Model const& model, HardwareSettings const& settings);

  // Times are medians over the repetitions. Throws DeviceError naming the step that failed, PlanError for a step that
  // is not run here. A wrong byte is no exception: the step's trace names it.
  Trace run(Plan const& plan) override;
  std::unique_ptr<RepeatableRun> prepare(Plan const& plan) override;
  [[nodiscard]] bool is_exact() const override { return false; }

  // What figures may depend on.
  [[nodiscard]] std::map<std::string, std::string> environment() const;

 private:
  Model const& model_;
  Repetition repetition_;
  Drives drives_;
};

}  // namespace lanewise::hw
