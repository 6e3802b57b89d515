#include "sim/sim_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/io/error.hpp"
#include "core/io/own_library.hpp"

namespace lanewise::sim {
namespace {

// Kept for good once loaded: SimGrid cannot be unloaded.
void* library() {
  static void* const loaded = own_library("liblanewise_sim.so");
  return loaded;
}

template <class Function>
Function symbol(char const* name) {
  auto* const found = dlsym(library(), name);
  if (found == nullptr)
    throw MissingError(fmt::format("liblanewise_sim.so is of another version: it has no '{}'", name));
  return reinterpret_cast<Function>(found);
}

constexpr char const* kMissing =
    "the simulator is not in this build: install SimGrid (package libsimgrid-dev) and build again";

}  // namespace

std::unique_ptr<Executor> make_executor(Model const& model) {
  if (library() == nullptr) throw MissingError(kMissing);
  return std::unique_ptr<Executor>(symbol<Executor* (*)(Model const*)>("lanewise_make_sim_executor")(&model));
}

std::unique_ptr<Executor> make_executor_if_available(Model const& model) {
  return library() != nullptr ? make_executor(model) : nullptr;
}

std::string about() {
  if (library() == nullptr) return fmt::format("no: {}", kMissing);
  return fmt::format("SimGrid {}", symbol<char const* (*)()>("lanewise_sim_version")());
}

}  // namespace lanewise::sim
