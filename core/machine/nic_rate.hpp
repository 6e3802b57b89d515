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

// The rate of a NIC's cable: its own where it is slower than the NIC.
inline std::optional<BytesPerSecond> cable_rate(Machine const& machine, Fabric::Attachment const& attachment) {
  return attachment.rate ? attachment.rate : nic_rate(machine, attachment.nic);
}

// Whether a cable carries less than its port could, by the NIC's part.
inline bool is_slow_cable(Machine const& machine, Fabric::Attachment const& attachment) {
  auto const* part = machine.part_of(attachment.nic);
  if (!attachment.rate || part == nullptr || !part->nic.rate) return attachment.rate.has_value();
  constexpr double kRounding = 1 - 1e-9;
  return *attachment.rate * static_cast<double>(machine.fabric->network_of(attachment.at).planes) <
         *part->nic.rate * kRounding;
}

}  // namespace lanewise
