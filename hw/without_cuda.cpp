#include "hw/executor_factory.hpp"
#include "hw/memory/gpu_memory.hpp"
#include "hw/network/device_steps.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

constexpr auto* kNotBuilt =
    "the CUDA executor is not in this build: install the CUDA toolkit (nvcc 12.2 or later) and build again";

}  // namespace

std::unique_ptr<Executor> make_cuda_executor(Model const& /*model*/, HardwareSettings const& /*settings*/) {
  throw MissingError(kNotBuilt);
}

std::unique_ptr<Meter> make_cuda_meter(Model const& /*model*/, HardwareSettings const& /*settings*/) {
  throw MissingError(kNotBuilt);
}

std::unique_ptr<Memory> make_gpu_memory(std::string const& /*bdf*/, int /*gpu*/, Bytes /*bytes*/) {
  throw MissingError(kNotBuilt);
}

std::unique_ptr<Memory> make_pinned_memory(Bytes /*bytes*/, NumaIndex /*numa*/) { throw MissingError(kNotBuilt); }

std::unique_ptr<DeviceSteps> make_device_steps(DeviceWork const& /*work*/, std::optional<int> /*first_gpu*/) {
  throw MissingError(kNotBuilt);
}

int visible_gpus() { return 0; }

void choose_gpu(int /*gpu*/) { throw MissingError(kNotBuilt); }

std::string cuda_text() { return std::string("no: ") + kNotBuilt; }

}  // namespace lanewise::hw
