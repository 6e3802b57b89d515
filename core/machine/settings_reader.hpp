#pragma once
// Settings as files and command lines write them.
#include "core/io/yaml.hpp"
#include "core/machine/machine.hpp"

namespace lanewise {

// An ACS control from a scalar ("off") or a list of bits; nullopt after reporting what is wrong.
std::optional<AcsControl> read_acs(MapReader& reader, std::string_view key);
// Overwrites in `settings` what the mapping says.
void read_settings(MapReader& reader, Settings& settings);
void read_software(MapReader& reader, Software& software);

}  // namespace lanewise
