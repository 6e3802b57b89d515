#include "hw/hardware.hpp"

#include <fmt/format.h>

#include "core/io/own_library.hpp"
#include "hw/executor_factory.hpp"
#include "hw/network/carrier.hpp"
#include "hw/network/network_nodes.hpp"
#include "hw/nodes/group.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

std::unique_ptr<Nodes> join(Completion completion) { return make_network_nodes(make_group(), completion); }

std::unique_ptr<Executor> make_executor(Model const& model, Repetition repetition, Nodes& nodes) {
  return model.machine().hosts.size() > 1 ? nodes.make_executor(model, repetition)
                                          : make_cuda_executor(model, repetition);
}

std::unique_ptr<Meter> make_meter(Model const& model, Repetition repetition, Nodes& nodes) {
  return model.machine().hosts.size() > 1 ? nodes.make_meter(model, repetition) : make_cuda_meter(model, repetition);
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
