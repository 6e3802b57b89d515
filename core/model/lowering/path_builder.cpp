#include "core/model/lowering/path_builder.hpp"

#include <algorithm>

#include "core/model/resources/figures.hpp"
#include "core/model/resources/overheads.hpp"

namespace lanewise {

void PathBuilder::scale_uses(double factor) {
  for (auto& use : demand_.uses) use.weight = Weight::floor_of(use.weight.ratio() * factor);
}

void PathBuilder::scale_use(ResourceId id, double factor) {
  for (auto& use : demand_.uses)
    if (use.resource == id) use.weight = Weight::floor_of(use.weight.ratio() * factor);
}

void PathBuilder::scale_sequential_uses(double factor) {
  decltype(demand_.uses) kept;
  for (auto use : demand_.uses) {
    auto const kind = resources_.at(use.resource).kind;
    if (kind == ResourceKind::HostDuplex) continue;  // reads and writes never meet: one leg runs at a time
    // A resource of both legs is in use all the time. One of a single leg is in use half of the time; the rest of its
    // weight is the other leg's read requests.
    bool const both_legs = use.weight.ratio() > 1.5;
    auto const own = both_legs || use.weight.ratio() < 1 ? use.weight.ratio() : 1.0;
    use.weight = Weight::floor_of(own * factor * (both_legs ? 1.0 : 2.0));
    kept.push_back(use);
  }
  demand_.uses = kept;
}

void PathBuilder::append(Demand const& leg) {
  for (auto const& use : leg.uses) add(use);
  for (auto const& passed : leg.route) hop(passed.kind, passed.id);
  limit(leg.cap, leg.cap_reason, leg.cap_of);
}

void PathBuilder::use_in_small_packets(ResourceId id, double weight, Cap reason) {
  if (weight <= 1) return use(id, weight);
  use(id, Weight::floor_of(weight).ratio());
  if (auto const capacity = resources_.capacity(id, assumed_)) limit(*capacity / weight, reason, id);
}

std::optional<BytesPerSecond> PathBuilder::rate() const {
  if (demand_.unknown) return std::nullopt;
  auto rate = demand_.cap;
  for (auto const& use : demand_.uses)
    rate = std::min(rate, *resources_.capacity(use.resource, assumed_) / use.weight.ratio());
  return rate;
}

Seconds PathBuilder::endpoint_latency(PciId id) const {
  auto const* part = machine_.part_of(id);
  return figures::endpoint_latency(part) * assumed_latency_share(part, assumed_);
}

Seconds PathBuilder::switch_latency(PciId pcie_switch) const {
  auto const* part = machine_.part_of(pcie_switch);
  return figures::switch_latency(part) * assumed_latency_share(part, assumed_);
}

// Passes through the switches above `from` up to and including `last`, or through all of them.
Seconds PathBuilder::switch_latencies(PciId from, std::optional<PciId> last) const {
  Seconds total{0};
  if (last == from) return total;
  for (auto up = machine_.at(from).parent; up; up = machine_.at(*up).parent) {
    if (machine_.at(*up).kind != PciKind::Switch) break;
    if (up != last) total += switch_latency(*up);
    if (up == last) break;
  }
  return total;
}

Seconds PathBuilder::root_complex_latency(SocketId socket) const {
  auto const* part = machine_.part_of(socket);
  return figures::root_complex_latency(part) * assumed_latency_share(part, assumed_);
}

Seconds PathBuilder::socket_latency(SocketId a, SocketId b) const {
  if (a == b) return Seconds(0);
  auto const* pair = resources_.socket_pair(a, b);
  if (pair == nullptr) return overheads::kSocketHop;
  return pair->latency * assumed_latency_share(pair->part ? &machine_.at(*pair->part) : nullptr, assumed_);
}

Seconds PathBuilder::nvlink_latency(PartId id) const {
  auto const& part = machine_.at(id);
  return figures::latency(part.link) * (assumed_(Parameter::NvlinkLatency) * assumed_latency_share(&part, assumed_));
}

}  // namespace lanewise
