#include "hw/hardware.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/io/own_library.hpp"
#include "hw/executor_factory.hpp"
#include "hw/nodes/group.hpp"
#include "hw/verbs/verbs_nodes.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

constexpr auto* kNoVerbs =
    "the RDMA executor is not in this build: install libibverbs (package libibverbs-dev) and build again";

// One process in a build without the RDMA executor: no plan can cross the network.
class OneNode : public Nodes {
 public:
  [[nodiscard]] int processes() const override { return 1; }
  [[nodiscard]] bool is_first() const override { return true; }
  void serve() override {}
  std::unique_ptr<Executor> make_executor(Model const& /*model*/, Repetition /*repetition*/) override {
    throw MissingError(kNoVerbs);
  }
};

std::unique_ptr<Nodes> join(Completion completion) {
  auto* const library = own_library("liblanewise_verbs.so");
  if (library == nullptr) {
    if (launched_with_others()) throw MissingError(kNoVerbs);
    return std::make_unique<OneNode>();
  }
  auto* const make =
      reinterpret_cast<decltype(&lanewise_make_verbs_nodes)>(dlsym(library, "lanewise_make_verbs_nodes"));
  if (make == nullptr) throw MissingError("liblanewise_verbs.so is of another version");
  return std::unique_ptr<Nodes>(make(make_group().release(), make_gpu_memory, completion));
}

std::unique_ptr<Executor> make_executor(Model const& model, Repetition repetition, Nodes& nodes) {
  return model.machine().hosts.size() > 1 ? nodes.make_executor(model, repetition)
                                          : make_cuda_executor(model, repetition);
}

std::string about() {
  bool const verbs = own_library("liblanewise_verbs.so") != nullptr;
  return fmt::format("{}; {}", cuda_text(), verbs ? "RDMA verbs" : std::string("no RDMA: ") + kNoVerbs);
}

}  // namespace
}  // namespace lanewise::hw

lanewise::hw::Hardware const* lanewise_hardware() {
  using namespace lanewise::hw;
  static constexpr Hardware kHardware{join, make_executor, make_cuda_meter, about, discover, discovery_json};
  return &kHardware;
}
