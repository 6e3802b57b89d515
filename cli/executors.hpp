#pragma once
// The executors this program can load, found at run time so that commands that run nothing load nothing.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "core/model/model.hpp"
#include "core/plan/executor.hpp"
#include "hw/hardware.hpp"

namespace lanewise::cli {

// How plans are run on hardware, and by whom.
struct OnHardware {
  hw::Repetition repetition;
  std::string completion = "polling";
  std::shared_ptr<hw::Nodes> nodes;  // once joined
  // This process among those of a launcher. False: it has served the first, and nothing else is to be done.
  bool join();
};

// The simulator. Throws MissingError saying what to install when this build has none.
std::unique_ptr<Executor> make_sim_executor(Model const& model);
// The same, or nullptr where this build has none.
std::unique_ptr<Executor> simulator(Model const& model);
// The hardware side, loaded at the first call. Throws MissingError when its library cannot be.
hw::Hardware const& hardware();
// The executor of a mode, "sim", or "hw" once joined. Throws MissingError when it is not here.
std::unique_ptr<Executor> make_executor(std::string const& mode, Model const& model, OnHardware const& options);
// --repeat and --completion, of commands that run on hardware.
void add_hardware_options(CLI::App& command, OnHardware& options);
void add_repeat(CLI::App& command, hw::Repetition& repetition);
// A line an executor: which are built in, and why one is not.
std::string executors_text();

}  // namespace lanewise::cli
