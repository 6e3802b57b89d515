#include "core/machine/socket_links.hpp"

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

// Sources. Intel: QPI and UPI links of dual-socket products in Intel ARK; Sandy Bridge and Ivy Bridge EP have two QPI
// links of 8.0 GT/s (ARK, Xeon E5-2600 and E5-2600 v2). AMD EPYC 7002 and 7003: data sheets, four links between two
// sockets. AMD EPYC 9004 and 9005: three, because servers with many GPUs use the lanes of the fourth for PCIe (Lenovo
// LP1852). POWER9: IBM REDP-5472. Grace: the
// cnvlink part. A product has what its family has; products are named because their parts have no
// cpuid, which is that of the family.
constexpr std::array kRows{Row{"GenuineIntel/6/45", "qpi-8.0", 2},
                           Row{"GenuineIntel/6/62", "qpi-8.0", 2},
                           Row{"GenuineIntel/6/63", "qpi-9.6", 2},
                           Row{"GenuineIntel/6/79", "qpi-9.6", 2},
                           Row{"xeon-e5-2682-v4", "qpi-9.6", 2},
                           Row{"xeon-e5-2698-v4", "qpi-9.6", 2},
                           Row{"GenuineIntel/6/85", "upi-10.4", 2},
                           Row{"xeon-platinum-8168", "upi-10.4", 2},
                           Row{"xeon-platinum-8174", "upi-10.4", 2},
                           Row{"xeon-platinum-8275cl", "upi-10.4", 2},
                           Row{"GenuineIntel/6/106", "upi-11.2", 3},
                           Row{"xeon-platinum-8380", "upi-11.2", 3},
                           Row{"GenuineIntel/6/143", "upi-16", 3},
                           Row{"xeon-platinum-8480c", "upi-16", 3},
                           Row{"GenuineIntel/6/207", "upi-20", 3},
                           Row{"xeon-platinum-8558", "upi-20", 3},
                           Row{"AuthenticAMD/23/49", "xgmi-18", 4},
                           Row{"epyc-7742", "xgmi-18", 4},
                           Row{"epyc-7v12", "xgmi-18", 4},
                           Row{"AuthenticAMD/25/1", "xgmi-18", 4},
                           Row{"epyc-7763", "xgmi-18", 4},
                           Row{"epyc-7v13", "xgmi-18", 4},
                           Row{"AuthenticAMD/25/17", "xgmi-32", 3},
                           Row{"epyc-9654", "xgmi-32", 3},
                           Row{"AuthenticAMD/26/2", "xgmi-32", 3},
                           Row{"epyc-9575f", "xgmi-32", 3},
                           Row{"epyc-9655", "xgmi-32", 3},
                           Row{"epyc-9755", "xgmi-32", 3},
                           Row{"epyc-9965", "xgmi-32", 3},
                           Row{"xeon-platinum-8592plus", "upi-20", 4},
                           Row{"xeon-6776p", "upi-24", 4},
                           Row{"xeon-6787p", "upi-24", 4},
                           Row{"xeon-6980p", "upi-24", 6},
                           Row{"power9-ac922", "x-bus", 1},
                           Row{"grace", "cnvlink", 1}};

bool is_for(Row const& row, Part const& cpu) {
  return row.cpu == cpu.name || std::find(cpu.cpu.cpuid.begin(), cpu.cpu.cpuid.end(), row.cpu) != cpu.cpu.cpuid.end();
}

}  // namespace

std::optional<UsualSocketLink> usual_socket_link(Part const& cpu) {
  auto const row = std::find_if(kRows.begin(), kRows.end(), [&](Row const& r) { return is_for(r, cpu); });
  if (row == kRows.end()) return std::nullopt;
  return UsualSocketLink{std::string(row->part), row->count};
}

}  // namespace lanewise
