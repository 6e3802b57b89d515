#include "hw/executor_factory.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

constexpr auto* kNotBuilt =
    "the CUDA executor is not in this build: install the CUDA toolkit (nvcc 12.2 or later) and build again";

}  // namespace

std::unique_ptr<Executor> make_cuda_executor(Model const& /*model*/, Repetition /*repetition*/) {
  throw MissingError(kNotBuilt);
}

std::unique_ptr<Meter> make_cuda_meter(Model const& /*model*/, Repetition /*repetition*/) {
  throw MissingError(kNotBuilt);
}

std::unique_ptr<Memory> make_gpu_memory(std::string const& /*bdf*/, int /*gpu*/, Bytes /*bytes*/) {
  throw MissingError(kNotBuilt);
}

std::string cuda_text() { return std::string("no: ") + kNotBuilt; }

}  // namespace lanewise::hw
