#include "core/interop/machines/socket_links.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace lanewise {
namespace {

struct Row {
  std::string_view cpu;  // a cpuid, or the name of a part that has none
  std::string_view part;
  int count;
};

// Sources. Intel: QPI and UPI links of dual-socket products in Intel ARK. AMD EPYC 7002 and 7003: data sheets, four
// links between two sockets. AMD EPYC 9004 and 9005: three, because servers with many GPUs use the lanes of the fourth
// for PCIe (Lenovo LP1852). POWER9: IBM REDP-5472.
constexpr std::array<Row, 11> kRows{{{"GenuineIntel/6/63", "qpi-9.6", 2},
                                     {"GenuineIntel/6/79", "qpi-9.6", 2},
                                     {"GenuineIntel/6/85", "upi-10.4", 2},
                                     {"GenuineIntel/6/106", "upi-11.2", 3},
                                     {"GenuineIntel/6/143", "upi-16", 3},
                                     {"GenuineIntel/6/207", "upi-20", 3},
                                     {"AuthenticAMD/23/49", "xgmi-18", 4},
                                     {"AuthenticAMD/25/1", "xgmi-18", 4},
                                     {"AuthenticAMD/25/17", "xgmi-32", 3},
                                     {"AuthenticAMD/26/2", "xgmi-32", 3},
                                     {"power9-ac922", "x-bus", 1}}};

bool is_for(Row const& row, Part const& cpu) {
  return row.cpu == cpu.name || std::find(cpu.cpu.cpuid.begin(), cpu.cpu.cpuid.end(), row.cpu) != cpu.cpu.cpuid.end();
}

}  // namespace

std::optional<UsualSocketLink> usual_socket_link(Part const& cpu) {
  auto const* const row = std::find_if(kRows.begin(), kRows.end(), [&](Row const& r) { return is_for(r, cpu); });
  if (row == kRows.end()) return std::nullopt;
  return UsualSocketLink{std::string(row->part), row->count};
}

}  // namespace lanewise
