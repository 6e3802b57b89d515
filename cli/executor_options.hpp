#pragma once
// The options of commands that run plans, and the executor they ask for.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "hw/hardware.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise::cli {

struct HardwareOptions {
  hw::Repetition repetition;
  std::vector<std::string> drives;  // "NAME=PATH"
  std::string completion = "polling";
  std::shared_ptr<hw::Nodes> nodes;  // set by join()

  // Joins the processes that a launcher started, all of which go on.
  void start();
  // Joins the processes that a launcher started (mpirun, srun). True in the first process, which goes on; false in the
  // others once they have served it, and then the command is done.
  bool join();
  // What the executor is told. Throws InputError for a --drive that is no NAME=PATH.
  [[nodiscard]] hw::HardwareSettings settings() const;
};

// Whether a mode of `run` and `check` runs on hardware, beside or instead of a prediction.
bool uses_hardware(std::string const& mode);
// The executor of a mode: "sim", "estimate", or "hw" after join(). Throws MissingError saying what is not here.
std::unique_ptr<Executor> make_executor(std::string const& mode, Model const& model, HardwareOptions const& options);
// Adds --mode with the modes of `run` and `check`.
void add_mode(CLI::App& command, std::string& mode);
// Adds --repeat and --completion.
void add_hardware_options(CLI::App& command, HardwareOptions& options);
// Adds --drive.
void add_drives(CLI::App& command, HardwareOptions& options);
// Adds --repeat.
void add_repeat(CLI::App& command, hw::Repetition& repetition);

}  // namespace lanewise::cli
