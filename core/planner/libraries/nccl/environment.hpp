#pragma once
// NCCL's variables, as a machine file and its NICs set them.
#include <map>
#include <optional>
#include <string>

#include "lanewise/machine/machine.hpp"

namespace lanewise::nccl {

// NCCL's variables that change what it decides, by name: NCCL_P2P_DISABLE.
using Environment = std::map<std::string, std::string>;
// The number of a variable; nullopt where it is not set. Throws PlanError if it is no number.
std::optional<int> number_in(Environment const& environment, std::string const& name);

// The variables of a machine file, and beneath them those that the NICs' network plugin sets: aws-ofi-nccl for EFA.
// Source: aws/aws-ofi-nccl, src/platform-aws.cpp, p5 and later. p4d lacks those of NVLS, which its GPUs do not have.
// NCCL_PROTO: configure_nccl_proto, where the adapter keeps no order of writes.
Environment environment_of(Machine const& machine);

}  // namespace lanewise::nccl
