#pragma once
#include <optional>
#include <string>

#include "core/interop/exports/exported_ids.hpp"

namespace lanewise {

// The 4,096 bytes of configuration space of a function: header, PCI Express capability with its link, and ACS where the
// port has a known control. Without a known control only the first 64 bytes, as Linux shows them to users.
std::string config_space(ExportedIds const& ids, ExportedPort port, std::optional<PcieLink> link,
                         std::optional<PcieLink> max_link, std::optional<AcsControl> acs);

}  // namespace lanewise
