#pragma once
// A PCI Express link, written as generation and width: "gen4 x16".
#include <compare>
#include <string>
#include <string_view>

#include "lanewise/units/text.hpp"

namespace lanewise {

struct PcieLink {
  int generation = 0;  // 1..6
  int width = 0;       // lanes: 1, 2, 4, 8, 12, 16, 32
  friend auto operator<=>(PcieLink const&, PcieLink const&) = default;
};

// The pattern of a link in YAML, for the JSON Schema.
inline constexpr char kLinkPattern[] = "^(gen[1-6]|(2\\.5|5|8|16|32|64)(\\.0+)? *GT/s) *x(1|2|4|8|12|16|32)$";

// Parses "gen4 x16", or "16 GT/s x16" as lspci prints it.
Parsed<PcieLink> parse_pcie_link(std::string_view text);
std::string to_string(PcieLink link);  // "gen4 x16"

// Transfer rate of one lane in GT/s, generations 1..6. Source: PCI Express Base Specification 6.0, table of data rates.
double gigatransfers_per_second(int generation);
// The generation of a lane rate in GT/s, or 0 when no generation has this rate.
int generation_of_rate(double gigatransfers);

// The link that two ends negotiate: the smaller generation and the smaller width.
constexpr PcieLink negotiated(PcieLink a, PcieLink b) {
  return {a.generation < b.generation ? a.generation : b.generation, a.width < b.width ? a.width : b.width};
}

}  // namespace lanewise
