#include "lanewise/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/lowering/lowering.hpp"
#include "core/model/place_classes.hpp"
#include "core/model/resources/overheads.hpp"
#include "core/rules/conditions.hpp"
#include "core/units/limits.hpp"

namespace lanewise {

Model::Facts::Facts(Machine of) : machine(std::move(of)), resources(machine) {}
Model::Facts::Facts(Machine of, Resources having) : machine(std::move(of)), resources(std::move(having)) {}
Model::Facts::~Facts() = default;

Model::Model(Machine machine) : facts_(std::make_shared<Facts const>(std::move(machine))) {}

LoweringTarget Model::lowering_target() const { return {machine(), resources(), assumed_}; }

Demand Model::lower(Place const& from, Place const& to, Bytes bytes, Op op, Way const& way) const {
  Demand demand;
  Lowering(lowering_target(), demand, from, to, bytes, op, way).lower();
  return demand;
}

PlaceClasses const& Model::classes() const {
  if (assumed_.hash_seed()) {  // the cables of a pair depend on its addresses
    std::call_once(facts_->hashed_classes_found, [&] {
      facts_->hashed_classes =
          std::make_unique<PlaceClasses const>(facts_->machine, facts_->resources, PlaceClasses::Likeness::None);
    });
    return *facts_->hashed_classes;
  }
  std::call_once(facts_->classes_found,
                 [&] { facts_->classes = std::make_unique<PlaceClasses const>(facts_->machine, facts_->resources); });
  return *facts_->classes;
}

template <class Widen>
Model Model::with_resources(Widen widen) const {
  auto facts = std::make_shared<Facts>(machine(), resources());
  widen(facts->resources);
  auto other = *this;
  other.facts_ = std::move(facts);
  return other;
}

Model Model::widened(std::span<ResourceId const> resources, double times) const {
  return with_resources([&](Resources& all) {
    for (auto const resource : resources) all.widen(resource, times);
  });
}

Model Model::widened(std::span<EngineId const> engines, int slots) const {
  return with_resources([&](Resources& all) {
    for (auto const engine : engines) all.widen(engine, slots);
  });
}

std::optional<Cost> Model::cost(Demand const& demand, Bytes bytes) const {
  if (demand.unknown) return std::nullopt;
  Cost cost;
  cost.rate = demand.cap;
  cost.binding = demand.cap_reason;
  for (auto const& use : demand.uses) {
    auto const alone = *capacity(use.resource) / use.weight.ratio();
    if (alone >= cost.rate) continue;
    cost.rate = alone;
    cost.binding = use.resource;
  }
  cost.time = demand.latency() + bytes / cost.rate;
  return cost;
}

Seconds Model::observed_latency(Demand const& demand, Cost const& cost, Op op, Way const& way) const {
  bool const from_inside = by_kernel(op) || way.access.each > Bytes(0);
  return from_inside ? cost.time - demand.start : cost.time;
}

std::optional<BytesPerSecond> Model::throughput(Demand const& demand, Bytes bytes) const {
  auto const alone = cost(demand, bytes);
  if (!alone) return std::nullopt;
  return bytes / std::max(bytes / alone->rate, demand.busy);
}

std::optional<Bytes> Model::rendezvous_from(Place const& from, Place const& to, Demand const& demand,
                                            Way const& way) const {
  if (!way.nic_from || !way.nic_to || (way.mechanism != Mechanism::Rdma && way.mechanism != Mechanism::Gdr))
    return std::nullopt;
  if (way.carrier == Carrier::Mpi && through_sockets(machine(), way)) return overheads::kSocketEager;
  // By MPI the demand has the messages of one of the two protocols already.
  auto const latency = way.carrier == Carrier::Mpi ? lower(from, to, Bytes(1), Op::Send, way).path : demand.latency();
  auto const rate = eager_copy_rate(machine(), assumed_, from, to);
  return Bytes(static_cast<std::int64_t>(std::min(2 * latency.value() * rate.value(), kMaxBytes)));
}

Seconds Model::handover(Place const& made_at, Way const& before, Way const& after) const {
  bool const reads_gpu =
      (after.mechanism == Mechanism::Gdr || after.mechanism == Mechanism::GdrRelay) && after.nic_from;
  bool const by_gpu = before.mechanism == Mechanism::Local || before.mechanism == Mechanism::Nvlink ||
                      before.mechanism == Mechanism::NvlinkRelay || before.mechanism == Mechanism::PcieP2p ||
                      before.mechanism == Mechanism::HostDma;
  bool const on_a_gpu = gpu_at(machine(), made_at).has_value();
  if (!reads_gpu || !by_gpu || !on_a_gpu || machine().at(machine().host_of(made_at)).software.gpudirect_async)
    return Seconds(0);
  return (overheads::kHostSync + overheads::kHostSubmit) * assumed_(Parameter::HostWork);
}

Bytes Model::best_chunk(Bytes bytes, Seconds gap, BytesPerSecond rate) {
  return lanewise::best_chunk(bytes, gap, rate);
}

std::string Model::name_of(Hop const& hop) const {
  switch (hop.kind) {
    case HopKind::Function: return machine().functions[hop.id].name;
    case HopKind::RootComplex: return machine().sockets[hop.id].name;
    case HopKind::SocketLink: return "socket link";
    case HopKind::Memory: return machine().numa_nodes[hop.id].name + " memory";
    case HopKind::ChipFabric: return machine().functions[hop.id].chip + " fabric";
    case HopKind::Nvlink:
      return fmt::format("{} x{}", machine().at(machine().nvlinks[hop.id].part).name, machine().nvlinks[hop.id].count);
    case HopKind::NvSwitch: return machine().nvswitches[hop.id].name;
    case HopKind::NetworkSwitch: return machine().fabric->switches[hop.id].name;
  }
  return "?";
}

std::string Model::text_of(Route const& route) const {
  std::string text;
  for (auto const& hop : route) text += (text.empty() ? "" : " > ") + name_of(hop);
  return text;
}

std::string Model::text_of_binding(Cost const& cost) const {
  if (auto const* cap = std::get_if<Cap>(&cost.binding)) return std::string(to_string(*cap));
  return resources().at(std::get<ResourceId>(cost.binding)).name;
}

}  // namespace lanewise
