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

// Whether the cables of a NIC carry less than the NIC, by this one.
inline bool is_slow(Machine const& machine, Fabric::Attachment const& attachment) {
  auto const rate = nic_rate(machine, attachment.nic);
  if (!attachment.rate || !rate) return attachment.rate.has_value();
  constexpr double kRounding = 1 - 1e-9;
  auto const ports = machine.fabric->attachments_of(attachment.nic).size();
  return *attachment.rate * static_cast<double>(ports) < *rate * kRounding;
}

}  // namespace lanewise
