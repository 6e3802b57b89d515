#include "core/model/resources/network.hpp"

#include <algorithm>

#include "core/machine/nic_rate.hpp"

namespace lanewise::network {
namespace {

using namespace literals;
constexpr Seconds kInfiniBandLatency = 0.6_us;
constexpr Seconds kEthernetExtra = 0.2_us;
constexpr Seconds kInfiniBandPass = 0.13_us;
constexpr Seconds kEthernetPass = 0.35_us;

Transport transport_of(Part const* nic) {
  if (nic == nullptr) return Transport::ByLinkLayer;
  bool const is_socket = nic->nic.transport == Transport::ByLinkLayer && !nic->nic.rdma;
  return is_socket ? Transport::Tcp : nic->nic.transport;
}

}  // namespace

double wire_efficiency(LinkLayer layer, Transport transport, Bytes mtu) {
  double extra = layer == LinkLayer::InfiniBand ? 8 + 12 + 4 + 2 + 2 : 38 + 20 + 8 + 12 + 4;
  if (transport == Transport::RoceV1) extra = 38 + 40 + 12 + 4;
  if (transport == Transport::RoceV2) extra = 38 + 20 + 8 + 12 + 4;
  if (transport == Transport::Tcp) extra = 38 + 20 + 32;
  if (transport == Transport::Iwarp) extra = 38 + 20 + 32 + 6 + 14;
  auto const payload = static_cast<double>(mtu.value());
  return payload / (payload + extra);
}

std::optional<BytesPerSecond> port_rate(Machine const& machine, PciId nic) {
  auto const rate = nic_rate(machine, nic);
  if (!rate || !machine.fabric) return payload_rate(machine, nic, rate);
  BytesPerSecond cables{0};
  for (auto const& attachment : machine.fabric->attachments_of(nic)) cables += attachment.rate.value_or(*rate);
  return payload_rate(machine, nic, cables > BytesPerSecond(0) ? std::min(*rate, cables) : *rate);
}

double payload_efficiency(Part const* nic) {
  if (nic != nullptr && nic->nic.payload_efficiency) return *nic->nic.payload_efficiency;
  auto const layer = nic != nullptr ? nic->nic.link_layer : LinkLayer::Ethernet;
  auto const transport = transport_of(nic);
  auto const usual = transport == Transport::Tcp ? kDefaultSegment : kDefaultMtu;
  return wire_efficiency(layer, transport, nic != nullptr ? nic->nic.mtu.value_or(usual) : usual);
}

std::optional<BytesPerSecond> payload_rate(Machine const& machine, PciId nic, std::optional<BytesPerSecond> rate) {
  if (!rate) return std::nullopt;
  return *rate * payload_efficiency(machine.part_of(nic));
}

Seconds wire_latency(Machine const& machine, PciId nic) { return wire_latency(machine.part_of(nic)); }

Seconds wire_latency(Part const* nic) {
  if (nic != nullptr && nic->nic.wire_latency) return *nic->nic.wire_latency;
  return wire_latency(nic != nullptr ? nic->nic.link_layer : LinkLayer::Ethernet);
}

Seconds wire_latency(LinkLayer layer) {
  return layer == LinkLayer::InfiniBand ? kInfiniBandLatency : kInfiniBandLatency + kEthernetExtra;
}

Seconds pass_latency(Machine const& machine, std::uint32_t network_switch) {
  auto const& fabric = *machine.fabric;
  auto const& part = fabric.switches[network_switch].part;
  if (part && machine.at(*part).hop.latency) return *machine.at(*part).hop.latency;
  // All NICs of a network speak the same protocol.
  auto const network = fabric.switches[network_switch].network;
  auto const found = std::find_if(fabric.attachments.begin(), fabric.attachments.end(), [&](auto const& attachment) {
    return fabric.switches[attachment.at].network == network;
  });
  auto const* nic = found == fabric.attachments.end() ? nullptr : machine.part_of(found->nic);
  return nic != nullptr && nic->nic.link_layer == LinkLayer::InfiniBand ? kInfiniBandPass : kEthernetPass;
}

}  // namespace lanewise::network
