#include "cli/executor_options.hpp"

#include <fmt/format.h>

#include "hw/hw_library.hpp"
#include "lanewise/estimate/estimating_executor.hpp"
#include "lanewise/io/error.hpp"
#include "sim/sim_library.hpp"

namespace lanewise::cli {

void HardwareOptions::start() {
  nodes = hw::hardware().join(completion == "events" ? hw::Completion::Events : hw::Completion::Polling);
}

bool HardwareOptions::join() {
  start();
  if (nodes->is_first()) return true;
  nodes->serve();
  return false;
}

hw::HardwareSettings HardwareOptions::settings() const {
  hw::HardwareSettings settings{repetition, {}};
  for (auto const& given : drives) {
    auto const sign = given.find('=');
    if (sign == std::string::npos || sign == 0 || sign + 1 == given.size())
      throw InputError(fmt::format("--drive {}: expected NAME=PATH, as in nvme0=/data", given));
    settings.drives.push_back({given.substr(0, sign), given.substr(sign + 1)});
  }
  return settings;
}

bool uses_hardware(std::string const& mode) { return mode == "hw" || mode == "both"; }

std::unique_ptr<Executor> make_executor(std::string const& mode, Model const& model, HardwareOptions const& options) {
  if (mode == kEstimateMode) return std::make_unique<EstimatingExecutor>(model);
  return mode == "sim" ? sim::make_executor(model)
                       : hw::hardware().make_executor(model, options.settings(), *options.nodes);
}

void add_mode(CLI::App& command, std::string& mode) {
  command
      .add_option(
          "--mode", mode,
          "sim: simulate; estimate: as the planner estimates, without the simulator; hw: run on hardware; both: "
          "compare sim and hw")
      ->check(CLI::IsMember({"sim", kEstimateMode, "hw", "both"}))
      ->capture_default_str();
}

void add_hardware_options(CLI::App& command, HardwareOptions& options) {
  add_repeat(command, options.repetition);
  command
      .add_option("--completion", options.completion,
                  "Notice network completions by polling NICs, or sleep until their events")
      ->check(CLI::IsMember({"polling", "events"}))
      ->capture_default_str();
}

void add_drives(CLI::App& command, HardwareOptions& options) {
  command
      .add_option("--drive", options.drives,
                  "What to use for a drive on hardware: nvme0=FOLDER makes a file of its own there and removes it; "
                  "nvme0=FILE or a block device is only read; may be repeated")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
}

void add_repeat(CLI::App& command, hw::Repetition& repetition) {
  command.add_option("--repeat", repetition.repeat, "Run this often on hardware; times are medians")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

}  // namespace lanewise::cli
