#pragma once
#include <optional>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The rate of a NIC's port: its own where the machine says it, otherwise its part's. Nullopt: unknown.
inline std::optional<BytesPerSecond> nic_rate(Machine const& machine, PciId nic) {
  if (machine.at(nic).rate) return machine.at(nic).rate;
  auto const* part = machine.part_of(nic);
  return part != nullptr ? part->nic.rate : std::nullopt;
}

}  // namespace lanewise
