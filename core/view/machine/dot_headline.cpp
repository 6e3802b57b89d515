#include "core/view/machine/dot_headline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/view/machine/dot_lines.hpp"
#include "core/view/machine/dot_style.hpp"

namespace lanewise {

using namespace dot;

std::string dot_headline(Machine const& machine, std::vector<std::string> const& route) {
  std::string cells;
  auto const colour = [&](NodeStyle const& style, std::string_view text) {
    cells += fmt::format(R"(<TD BGCOLOR="{}"><FONT COLOR="{}">{}</FONT></TD>)", style.fill, style.text, text);
  };
  auto const has = [&](PciKind kind) { return !machine.all(kind).empty(); };
  colour(kCpuStyle, "socket");
  if (has(PciKind::Switch)) colour(kSwitchStyle, "PCIe switch");
  if (has(PciKind::Gpu)) colour(kGpuStyle, "GPU");
  if (has(PciKind::Nic)) colour(kNicStyle, "NIC");
  if (has(PciKind::Nvme)) colour(kNvmeStyle, "drive");
  if (!machine.nvswitches.empty()) colour(kNvSwitchStyle, "GPU link switch");
  if (machine.fabric) colour(kNetworkSwitchStyle, "network switch");
  std::string words = "thicker line: faster; dashed, ?: as the parts allow";
  bool const has_slow = std::any_of(machine.functions.begin(), machine.functions.end(),
                                    [](PciFunction const& one) { return one.link && one.max_link; });
  if (has_slow) words += "; orange: slower than the parts allow";
  if (!route.empty()) words += "; in full colour: " + route.front() + " to " + route.back();
  auto const title = machine.title.empty() ? "" : fmt::format("<TR><TD>{}</TD></TR>", dot_html(machine.title));
  return fmt::format(
      R"(<<TABLE BORDER="0" CELLSPACING="0"><TR><TD><FONT POINT-SIZE="18">{}</FONT></TD></TR>{})"
      R"(<TR><TD><FONT POINT-SIZE="10"><TABLE BORDER="0" CELLSPACING="4"><TR>{}<TD>{}</TD></TR></TABLE></FONT></TD></TR></TABLE>>)",
      dot_html(machine.name), title, cells, dot_html(words));
}

}  // namespace lanewise
