#pragma once
// What max-min sharing cannot give: faults of parts that show only when certain transfers meet. Off unless a part
// carries the quirk's figure; each names its evidence.
#include <span>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"

namespace lanewise {

// Transfers that together get no more than `capacity` of something that no single one of them would notice.
struct QuirkLimit {
  std::string name;  // "sw0.posted_write_collapse"
  BytesPerSecond capacity;
  std::vector<std::size_t> members;  // indices of the transfers
};

// A transfer of posted writes between two PCI functions.
struct PostedWrites {
  std::size_t transfer = 0;
  PciId from{};
  PciId to{};
};

// Posted-write collapse: two or more devices below one uplink write to two or more other root ports at once. Reads are
// not touched. Evidence: 2.7 GB/s together where one uplink carries 56 (Broadcom PEX890xx on Turin), 12.6 to 13.5 GB/s
// (Microchip on WRX90 with an older firmware and driver; gone with newer ones): voipmonitor/rtx6kpro,
// hardware/collapse-report.md. Transfers of one plan are taken to meet.
std::vector<QuirkLimit> posted_write_collapses(Machine const& machine, std::span<PostedWrites const> writes);

}  // namespace lanewise
