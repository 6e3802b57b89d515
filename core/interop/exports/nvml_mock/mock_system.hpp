#pragma once
#include <vector>

#include "core/interop/exports/nvml_mock/mock_files.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// A system with this machine, as files: `config.yaml` for NVIDIA's mock of NVML (k8s-test-infra, MOCK_NVML_CONFIG), and
// the folders `sys` and `proc` that `discover --sysfs` reads. Throws PlanError for a cluster.
std::vector<MockFile> mock_system(Machine const& machine);

// The parts of it.
std::string mock_nvml_config(Machine const& machine);
std::vector<MockFile> mock_sysfs(Machine const& machine);

}  // namespace lanewise
