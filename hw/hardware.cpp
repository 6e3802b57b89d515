#include "hw/hardware.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/io/own_library.hpp"
#include "hw/executor_factory.hpp"
#include "hw/host/host_executor.hpp"
#include "hw/network/carrier.hpp"
#include "hw/network/network_nodes.hpp"
#include "hw/nodes/group.hpp"
#include "hw/program/plan_meter.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

std::unique_ptr<Nodes> join(Completion completion) { return make_network_nodes(make_group(), completion); }

// Plans of a machine without a GPU need no CUDA.
std::unique_ptr<Executor> make_executor(Model const& model, HardwareSettings const& settings, Nodes& nodes) {
  if (model.machine().hosts.size() > 1) return nodes.make_executor(model, settings);
  if (model.machine().all(PciKind::Gpu).empty()) return std::make_unique<HostExecutor>(model, settings);
  return make_cuda_executor(model, settings);
}

std::unique_ptr<Meter> make_meter(Model const& model, HardwareSettings const& settings, Nodes& nodes) {
  if (model.machine().hosts.size() > 1) return nodes.make_meter(model, settings);
  if (!model.machine().all(PciKind::Gpu).empty()) return make_cuda_meter(model, settings);
  auto executor = std::make_unique<HostExecutor>(model, settings);
  auto const& host = *executor;
  return std::make_unique<PlanMeter>(model, settings.repetition, std::move(executor),
                                     [&host] { return host.environment(); });
}

std::string about() {
  bool const verbs = own_library("liblanewise_verbs.so") != nullptr;
  bool const mpi = own_library("liblanewise_mpi.so") != nullptr;
  return fmt::format("{}; {}; {}", cuda_text(), verbs ? "RDMA verbs" : std::string("no RDMA: ") + kNoVerbs,
                     mpi ? "MPI" : "no MPI: install it (package libopenmpi-dev) and build again");
}

}  // namespace
}  // namespace lanewise::hw

lanewise::hw::Hardware const* lanewise_hardware() {
  using namespace lanewise::hw;
  static constexpr Hardware kHardware{join, make_executor, make_meter, about, discover, discovery_json};
  return &kHardware;
}
