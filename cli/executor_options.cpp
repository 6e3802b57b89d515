#include "cli/executor_options.hpp"

#include "hw/hw_library.hpp"
#include "sim/sim_library.hpp"

namespace lanewise::cli {

bool HardwareOptions::join() {
  nodes = hw::hardware().join(completion == "events" ? hw::Completion::Events : hw::Completion::Polling);
  if (nodes->is_first()) return true;
  nodes->serve();
  return false;
}

std::unique_ptr<Executor> make_executor(std::string const& mode, Model const& model, HardwareOptions const& options) {
  return mode == "sim" ? sim::make_executor(model)
                       : hw::hardware().make_executor(model, options.repetition, *options.nodes);
}

void add_hardware_options(CLI::App& command, HardwareOptions& options) {
  add_repeat(command, options.repetition);
  command
      .add_option("--completion", options.completion,
                  "Notice network completions by polling NICs, or sleep until their events")
      ->check(CLI::IsMember({"polling", "events"}))
      ->capture_default_str();
}

void add_repeat(CLI::App& command, hw::Repetition& repetition) {
  command.add_option("--repeat", repetition.repeat, "Run this often on hardware; times are medians")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

}  // namespace lanewise::cli
