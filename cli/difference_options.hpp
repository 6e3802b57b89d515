#pragma once
// The options of commands that compare machines: diff, and discover --against.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/machine/comparison/machine_comparison.hpp"

namespace lanewise::cli {

struct DifferenceArguments {
  std::vector<std::string> expected;  // of --expected: "nvlink", "device.bdf"
  void add_to(CLI::App& command);
  // Throws InputError for a kind of difference that there is not.
  [[nodiscard]] std::vector<ExpectedDifference> parsed() const;
};

// What a discovery could not have shown: what no source says, and what NVML and CUDA say where they were not there.
std::vector<ExpectedDifference> differences_unsaid(bool nvml_found, bool cuda_found);

}  // namespace lanewise::cli
