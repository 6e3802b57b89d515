#include "cli/executors.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/io/error.hpp"
#include "core/io/own_library.hpp"
#include "hw/hardware.hpp"

namespace lanewise::cli {
namespace {

// The simulator's library, loaded at the first call and kept: SimGrid cannot be unloaded.
void* sim_library() {
  static void* const library = own_library("liblanewise_sim.so");
  return library;
}

template <class Function>
Function symbol(char const* name) {
  auto* const found = dlsym(sim_library(), name);
  if (found == nullptr)
    throw MissingError(fmt::format("liblanewise_sim.so is of another version: it has no '{}'", name));
  return reinterpret_cast<Function>(found);
}

constexpr char const* kNoSim =
    "the simulator is not in this build: install SimGrid (package libsimgrid-dev) and build again";

}  // namespace

std::unique_ptr<Executor> make_sim_executor(Model const& model) {
  if (sim_library() == nullptr) throw MissingError(kNoSim);
  return std::unique_ptr<Executor>(symbol<Executor* (*)(Model const*)>("lanewise_make_sim_executor")(&model));
}

hw::Hardware const& hardware() {
  static auto* const library = own_library("liblanewise_hw.so");
  if (library == nullptr) throw MissingError(fmt::format("liblanewise_hw.so cannot be loaded: {}", dlerror()));
  auto* const entry = dlsym(library, "lanewise_hardware");
  if (entry == nullptr) throw MissingError("liblanewise_hw.so is of another version: it has no 'lanewise_hardware'");
  return *reinterpret_cast<hw::Hardware const* (*)()>(entry)();
}

std::unique_ptr<Executor> simulator(Model const& model) {
  return sim_library() != nullptr ? make_sim_executor(model) : nullptr;
}

bool OnHardware::join() {
  nodes = hardware().join(completion == "events" ? hw::Completion::Events : hw::Completion::Polling);
  if (nodes->is_first()) return true;
  nodes->serve();
  return false;
}

std::unique_ptr<Executor> make_executor(std::string const& mode, Model const& model, OnHardware const& options) {
  return mode == "sim" ? make_sim_executor(model) : hardware().make_executor(model, options.repetition, *options.nodes);
}

void add_hardware_options(CLI::App& command, OnHardware& options) {
  add_repeat(command, options.repetition);
  command.add_option("--completion", options.completion, "over the network: NICs are polled, or wake us by events")
      ->check(CLI::IsMember({"polling", "events"}))
      ->capture_default_str();
}

void add_repeat(CLI::App& command, hw::Repetition& repetition) {
  command.add_option("--repeat", repetition.repeat, "on hardware: medians of so many runs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

std::string executors_text() {
  auto const sim = sim_library() != nullptr
                       ? fmt::format("SimGrid {}", symbol<char const* (*)()>("lanewise_sim_version")())
                       : std::string("no: ") + kNoSim;
  return fmt::format("sim: {}\nhw:  {}\n", sim, hardware().about());
}

}  // namespace lanewise::cli
