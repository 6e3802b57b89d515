#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/interop/host/facts.hpp"
#include "core/interop/machines/roles.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Makes the machine of one host's facts. What no source says stays unknown; the machine's notes say what was inferred.
// `roles`: of an emulated machine's stand-ins; absent: devices are what they say they are.
Machine machine_of(HostFacts const& facts, std::string const& name, std::optional<RolesFile> const& roles,
                   Catalogue& catalogue);

}  // namespace lanewise
