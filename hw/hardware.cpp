#include "hw/hardware.hpp"

#include "core/io/error.hpp"

namespace lanewise::hw {
namespace {

constexpr auto* kNoCuda = "the CUDA executor is not in this build: install the CUDA toolkit (nvcc) and build again";

std::unique_ptr<Executor> make_executor(Model const& /*model*/) { throw MissingError(kNoCuda); }
std::string about() { return std::string("no: ") + kNoCuda; }

constexpr Hardware kHardware{make_executor, about, discover, discovery_json};

}  // namespace
}  // namespace lanewise::hw

lanewise::hw::Hardware const* lanewise_hardware() { return &lanewise::hw::kHardware; }
