#pragma once
// The physics, written once: lowers one step on one machine to a Demand.
//
//   Model const model(machine);
//   auto const demand = model.lower(from, to, 256_MiB, Op::Copy, way);
//   auto const cost = model.cost(demand, 256_MiB);     // on an idle machine; nullopt when a figure is unknown
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/machine/machine.hpp"
#include "core/model/demand.hpp"
#include "core/model/resources.hpp"
#include "core/rules/mechanism.hpp"

namespace lanewise {

class Model {
 public:
  explicit Model(Machine machine) : facts_(std::make_shared<Facts const>(std::move(machine))) {}
  // The same machine under other assumptions; the machine is not copied.
  [[nodiscard]] Model with_assumptions(Assumptions const& assumed) const {
    auto other = *this;
    other.assumed_ = assumed;
    return other;
  }

  // The same machine with these resources that many times as wide, or an engine with that many slots more.
  [[nodiscard]] Model widened(std::span<ResourceId const> resources, double times) const;
  [[nodiscard]] Model widened(EngineId engine, int slots) const;

  [[nodiscard]] Machine const& machine() const { return facts_->machine; }
  // Their capacities are those in use; capacity() has them under this model's assumptions.
  [[nodiscard]] Resources const& resources() const { return facts_->resources; }
  [[nodiscard]] Assumptions const& assumed() const { return assumed_; }
  [[nodiscard]] std::optional<BytesPerSecond> capacity(ResourceId id) const {
    return facts_->resources.capacity(id, assumed_);
  }

  // The demand of moving `bytes` this way. The way must fit the places (a relay for a relay form, NICs for network
  // forms); whether it is legal is the rules' affair. Throws PlanError when the way cannot be laid at all.
  [[nodiscard]] Demand lower(Place const& from, Place const& to, Bytes bytes, Op op, Way const& way) const;

  // Alone on an idle machine: latency + bytes / min(cap, capacity / weight).
  [[nodiscard]] std::optional<Cost> cost(Demand const& demand, Bytes bytes) const;

  // A latency as people measure it: of a copy the whole time, as a stream sees it; of what kernels or devices do by
  // themselves the way alone, as seen from there.
  [[nodiscard]] Seconds observed_latency(Demand const& demand, Cost const& cost, Op op, Way const& way) const;

  // Many such transfers in flight, one behind the other: starts are hidden, but not what each keeps busy.
  [[nodiscard]] std::optional<BytesPerSecond> throughput(Demand const& demand, Bytes bytes) const;

  // Two-sided messages over a network way, such as MPI's: below this size both ends copy them eagerly through buffers
  // that are registered already, above it they wait for one control round trip and move without copies. Where the two
  // costs cross (as OpenUCX chooses its thresholds): round trip / time both copies take a byte. Nullopt for other ways.
  [[nodiscard]] std::optional<Bytes> rendezvous_from(Place const& from, Place const& to, Demand const& demand,
                                                     Way const& way) const;

  // What passes between the end of a GPU's own work and the start of a send of what it made, beside the send's own
  // start: the CPU must notice and submit, unless the GPU rings the NIC itself. Nothing between other steps. Part of a
  // run, not of the time of a transfer alone.
  [[nodiscard]] Seconds handover(Place const& made_at, Way const& before, Way const& after) const;

  // The chunk of a two-stage pipeline that finishes first: about sqrt(bytes x time between chunks x rate), a power of
  // two from 64 KiB to 16 MiB. Derivation: T(c) = bytes / rate + bytes / c x gap + c / rate.
  static Bytes best_chunk(Bytes bytes, Seconds gap, BytesPerSecond rate);

  [[nodiscard]] std::string name_of(Hop const& hop) const;
  // "gpu0 > sw0 > gpu1"
  [[nodiscard]] std::string text_of(Route const& route) const;
  // "sw0.pcie.up (25.1 GB/s)" or "outstanding reads".
  [[nodiscard]] std::string text_of_binding(Cost const& cost) const;

 private:
  struct Facts {
    explicit Facts(Machine of) : machine(std::move(of)), resources(machine) {}
    Machine machine;
    Resources resources;
  };
  std::shared_ptr<Facts const> facts_;  // shared by one machine's models under different assumptions
  Assumptions assumed_;
};

}  // namespace lanewise
