#pragma once
// Shapes, colours and boxes of the Graphviz view.
#include <string_view>

#include "core/view/machine/dot_lines.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::dot {

// The colours are those of Okabe and Ito, which stay distinct for people with colour blindness. The shapes
// differ too, for output without colour.
inline constexpr NodeStyle kCpuStyle{"box", "#0072B2", "white"};
inline constexpr NodeStyle kMemoryStyle{"folder", "#F0E442"};
inline constexpr NodeStyle kRootPortStyle{"circle", "#DDDDDD"};
inline constexpr NodeStyle kSwitchStyle{"hexagon", "#CC79A7"};
inline constexpr NodeStyle kGpuStyle{"box3d", "#009E73", "white"};
inline constexpr NodeStyle kNicStyle{"cds", "#56B4E9", "black", "0.2,0.1"};
inline constexpr NodeStyle kNvmeStyle{"cylinder", "#E69F00"};
inline constexpr NodeStyle kDeviceStyle{"ellipse", "#FFFFFF"};
inline constexpr NodeStyle kNvSwitchStyle{"octagon", "#D55E00", "white"};
inline constexpr NodeStyle kNetworkSwitchStyle{"parallelogram", "#999999"};
inline constexpr NodeStyle kHostStyle{"box", "#FFFFFF"};

inline constexpr std::string_view kNvlinkColour = "#009E73";
inline constexpr std::string_view kNetworkColour = "#0072B2";
inline constexpr std::string_view kSlowColour = "#D55E00";

inline NodeStyle style_of(PciKind kind) {
  switch (kind) {
    case PciKind::RootPort: return kRootPortStyle;
    case PciKind::Switch: return kSwitchStyle;
    case PciKind::Gpu: return kGpuStyle;
    case PciKind::Nic: return kNicStyle;
    case PciKind::Nvme: return kNvmeStyle;
    case PciKind::Device: return kDeviceStyle;
  }
  return kDeviceStyle;
}

inline constexpr std::string_view kHostBox = R"(style="rounded"; color="#555555"; penwidth=2; fontsize=14;)";
inline constexpr std::string_view kSocketBox =
    R"(style="rounded,filled"; color="#AAAAAA"; fillcolor="#F5F5F5"; fontsize=12;)";
inline constexpr std::string_view kBridgeBox = R"(style="dashed"; color="#777777"; fontsize=9;)";
inline constexpr std::string_view kChipBox =
    R"(style="rounded,filled"; color="#CC79A7"; fillcolor="#F6E7EF"; penwidth=2; fontsize=10;)";
inline constexpr std::string_view kFabricBox =
    R"(style="rounded,filled"; color="#999999"; fillcolor="#EEEEEE"; fontsize=12;)";

}  // namespace lanewise::dot
