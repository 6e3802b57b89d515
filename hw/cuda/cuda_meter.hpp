#pragma once
#include <memory>

#include "core/measurement/meter.hpp"
#include "hw/options/hardware_settings.hpp"
#include "hw/storage/drives.hpp"
#include "lanewise/model/model.hpp"

namespace lanewise::hw {

class Devices;

// Measures on real GPUs as benchmarks do: transfers run back to back in one stream between two events, behind a gate
// that opens when all are enqueued.
class CudaMeter : public Meter {
 public:
  CudaMeter(Model const& model, HardwareSettings const& settings);
  CudaMeter(CudaMeter const&) = delete;
  CudaMeter& operator=(CudaMeter const&) = delete;
  ~CudaMeter() override;

  Sample alone(Step const& step) override;
  Sample together(std::vector<Step> const& steps) override;
  [[nodiscard]] std::map<std::string, std::string> environment() const override;

 private:
  [[nodiscard]] Plan plan_of(std::vector<Step> steps) const;

  Model const& model_;
  Repetition repetition_;
  std::unique_ptr<Devices> devices_;
  Drives drives_;
};

}  // namespace lanewise::hw
