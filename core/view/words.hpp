#pragma once
// Short texts that several views share.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.hpp"

namespace lanewise {

// Names in order with runs as ranges: "gpu0..gpu3, gpu6".
std::string condensed(std::vector<std::string> const& names);
// The names of the hosts, condensed: "node0..node31".
std::string host_names(Machine const& machine, std::vector<HostId> const& hosts);

// Breaks a text at blanks so that no line is wider than `width` bytes, unless one word is.
std::string wrapped(std::string_view text, std::size_t width);

// The title of a part, or its name where it has none.
std::string const& title_of(Part const& part);
// The title of what stands at a position: "NVIDIA A100 PCIe 80 GB", "unknown GPU", "root port".
std::string part_words(Machine const& machine, PciId id);
std::string part_words(Machine const& machine, SocketId id);

// "gen4 x8 (max gen4 x16)"; "(assumed gen4 x16)" where the file does not say; "unknown" where no datasheet does either;
// empty for a root port, whose link is that of the device below it.
std::string link_words(Machine const& machine, PciId id);
// Links bonded together: "NVLink 4 x18", "xgmi-32 x3".
std::string bonded_words(Part const& link_part, int count);

// "ACS off; IOMMU pt; virtualization passthrough (kvm)"
std::string settings_words(Settings const& settings);
// "cuda yes, peermem no, ..."
std::string software_words(Software const& software);

}  // namespace lanewise
