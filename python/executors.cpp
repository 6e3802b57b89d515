#include "python/executors.hpp"

#include <fmt/format.h>

#include "lanewise/estimate/estimating_executor.hpp"
#include "lanewise/io/error.hpp"
#include "sim/sim_library.hpp"

namespace lanewise::python {

void require_mode(std::string const& mode) {
  if (mode != "sim" && mode != kEstimateMode)
    throw InputError(fmt::format("'{}' is no mode; there are: sim, {}", mode, kEstimateMode));
}

std::unique_ptr<Executor> make_executor(std::string const& mode, Model const& model) {
  require_mode(mode);
  if (mode == kEstimateMode) return std::make_unique<EstimatingExecutor>(model);
  return sim::make_executor(model);
}

}  // namespace lanewise::python
