#pragma once
// Short texts that several views use.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// A network of more switches is shown by what they have in common, not switch by switch.
inline constexpr std::size_t kMaxSwitchesInFull = 32;

// Names in order, with consecutive numbers as ranges: "gpu0..gpu3, gpu6".
std::string condensed(std::vector<std::string> const& names);
// The names of the hosts, condensed: "node0..node31".
std::string host_names(Machine const& machine, std::vector<HostId> const& hosts);

// Breaks a text at blanks into lines of at most `width` bytes; longer words get a line of their own.
std::string wrapped(std::string_view text, std::size_t width);

// The title of a part, or its name if it has no title.
std::string const& title_of(Part const& part);
// The title of a device: "NVIDIA A100 PCIe 80 GB", "unknown GPU", "root port".
std::string part_words(Machine const& machine, PciId id);
std::string part_words(Machine const& machine, SocketId id);

// "gen4 x8 (max gen4 x16)"; "(assumed gen4 x16)" if only the datasheet states it; "unknown" if neither does; empty for
// a root port, whose link is that of the device below it.
std::string link_words(Machine const& machine, PciId id);
// Links bonded together: "NVLink 4 x18", "xgmi-32 x3".
std::string bonded_words(Part const& link_part, int count);

// "ACS off; IOMMU pt; virtualization passthrough (kvm)"
std::string settings_words(Settings const& settings);
// "cuda yes, peermem no, ..."
std::string software_words(Software const& software);

}  // namespace lanewise
