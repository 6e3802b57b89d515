#pragma once
// Faults of parts that max-min sharing cannot describe: they appear only when certain transfers run at the same time. A
// quirk applies only where a part has its figure; each cites its evidence.
#include <span>
#include <string>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// A limit on the total rate of several transfers.
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
// not affected. Evidence: 2.7 GB/s together where one uplink carries 56 (Broadcom PEX890xx on Turin), 12.6 to 13.5 GB/s
// (Microchip on WRX90 with an older firmware and driver; gone with newer ones): voipmonitor/rtx6kpro,
// hardware/collapse-report.md. All transfers of a plan are
// assumed to run at the same time.
std::vector<QuirkLimit> posted_write_collapses(Machine const& machine, std::span<PostedWrites const> writes);

}  // namespace lanewise
