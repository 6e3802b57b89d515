#pragma once
// Measures transfers by running plans of them, where no stream of a GPU keeps the time.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/measurement/meter.hpp"
#include "hw/options/repetition.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise::hw {

class PlanMeter : public Meter {
 public:
  // `environment`: of what the executor runs on, as known when it is asked for. The model must outlive this.
  PlanMeter(Model const& model, Repetition repetition, std::unique_ptr<Executor> executor,
            std::function<std::map<std::string, std::string>()> environment)
      : model_(model), repetition_(repetition), executor_(std::move(executor)), environment_(std::move(environment)) {}

  // Transfers in a row wait for one another, so each has its whole latency.
  Sample alone(Step const& step) override;
  Sample together(std::vector<Step> const& steps) override;
  [[nodiscard]] std::map<std::string, std::string> environment() const override { return environment_(); }

 private:
  [[nodiscard]] Sample sample_of(std::vector<Step> steps, int share);

  Model const& model_;
  Repetition repetition_;
  std::unique_ptr<Executor> executor_;
  std::function<std::map<std::string, std::string>()> environment_;
};

}  // namespace lanewise::hw
