#pragma once
// Takes out of what is written what says whose machine it is: host names, serial numbers, GUIDs, and addresses of
// networks (IP, MAC). PCI addresses and ids stay.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The text with every UUID, GUID, IP and MAC address in it replaced by "redacted".
std::string redacted_text(std::string_view text);

// The machine without them, under another name: that of a machine is usually its host's. Notes that name a file keep
// what they say.
Machine redacted_machine(Machine machine, std::string const& name = "machine");

// The same for every text of a tree; values of keys such as "uuid", "guid", "serial" and "hostname" are dropped.
nlohmann::ordered_json redacted_tree(nlohmann::ordered_json tree);

}  // namespace lanewise
