#include "sim/sim_library.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/io/own_library.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::sim {
namespace {

constexpr char kLibrary[] = "liblanewise_sim.so";

// Kept for good once loaded: SimGrid cannot be unloaded.
void* library() {
  static void* const loaded = own_library(kLibrary);
  return loaded;
}

constexpr char kMissing[] =
    "the simulator is not in this build: install SimGrid (package libsimgrid-dev) and build again";
constexpr char kUnloadable[] = "the simulator does not load: install SimGrid " LANEWISE_SIMGRID_VERSION;
constexpr char kWithout[] = "; run, check, matrix and report do without by --mode estimate";

bool is_built() { return std::filesystem::exists(own_library_file(kLibrary)); }

}  // namespace

std::unique_ptr<Executor> make_executor(Model const& model) {
  if (library() == nullptr) throw MissingError(fmt::format("{}{}", is_built() ? kUnloadable : kMissing, kWithout));
  return std::unique_ptr<Executor>(
      own_entry_point<Executor*(Model const*)>(library(), kLibrary, "lanewise_make_sim_executor")(&model));
}

std::unique_ptr<Executor> make_executor_if_available(Model const& model) {
  return library() != nullptr ? make_executor(model) : nullptr;
}

std::string about() {
  if (!is_built()) return fmt::format("no: {}", kMissing);
  return fmt::format("SimGrid {}", LANEWISE_SIMGRID_VERSION);
}

}  // namespace lanewise::sim
