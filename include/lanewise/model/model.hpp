#pragma once
// The physics: lowers one step on one machine to a Demand. There is no second copy of it.
//
//   Model const model(machine);
//   auto const demand = model.lower(from, to, 256_MiB, Op::Copy, way);
//   auto const cost = model.cost(demand, 256_MiB);     // on an idle machine; nullopt when a figure is unknown
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "lanewise/machine/machine.hpp"
#include "lanewise/model/resources/demand.hpp"
#include "lanewise/model/resources/resources.hpp"
#include "lanewise/rules/mechanism.hpp"

namespace lanewise {

struct LoweringTarget;  // core/model/lowering/path_builder.hpp
class PlaceClasses;     // core/model/place_classes.hpp

class Model {
 public:
  // Makes the machine's resources once; copies of a model share them.
  explicit Model(Machine machine);
  // The same machine with other factors on its parameters; the machine is not copied.
  [[nodiscard]] Model with_assumptions(Assumptions const& assumed) const {
    auto other = *this;
    other.assumed_ = assumed;
    return other;
  }

  // The same machine with `times` the capacity of these resources, or with `slots` more slots of these engines.
  [[nodiscard]] Model widened(std::span<ResourceId const> resources, double times) const;
  [[nodiscard]] Model widened(std::span<EngineId const> engines, int slots) const;

  [[nodiscard]] Machine const& machine() const { return facts_->machine; }
  // Their capacities are nominal; capacity() applies this model's assumptions.
  [[nodiscard]] Resources const& resources() const { return facts_->resources; }
  [[nodiscard]] Assumptions const& assumed() const { return assumed_; }
  [[nodiscard]] std::optional<BytesPerSecond> capacity(ResourceId id) const {
    return facts_->resources.capacity(id, assumed_);
  }

  [[nodiscard]] int slots(EngineId id) const { return assumed_slots(facts_->resources.at(id), assumed_); }

  // Which pairs of places are alike, under any assumptions but the hash of flows. Found when first asked for.
  [[nodiscard]] PlaceClasses const& classes() const;

  // The parts that a PathBuilder works on. They live as long as this model.
  [[nodiscard]] LoweringTarget lowering_target() const;

  // The demand of moving `bytes` this way. The way must fit the places: a relay for a relay form, staging memory for a
  // staged form, NICs for network forms. The rules decide whether it is legal. Throws PlanError when there is no route.
  [[nodiscard]] Demand lower(Place const& from, Place const& to, Bytes bytes, Op op, Way const& way) const;

  // The cost alone on an idle machine: latency + bytes / min(cap, capacity / weight). Nullopt when a figure is unknown.
  [[nodiscard]] std::optional<Cost> cost(Demand const& demand, Bytes bytes) const;

  // The latency that a benchmark measures. For a copy: the whole time, as a stream sees it. For accesses by a kernel or
  // a device: without the start, as the kernel or the device sees it.
  [[nodiscard]] Seconds observed_latency(Demand const& demand, Cost const& cost, Op op, Way const& way) const;

  // The rate of many such transfers in flight, one after the other: their starts overlap, their `busy` time does not.
  // Nullopt when a figure is unknown.
  [[nodiscard]] std::optional<BytesPerSecond> throughput(Demand const& demand, Bytes bytes) const;

  // The eager/rendezvous threshold of two-sided messages, such as MPI's, over an RDMA or GPUDirect way. Below it both
  // ends copy through registered buffers; above it they wait for one control round trip and move the data without
  // copies. It is where the two costs are equal, as in OpenUCX: round trip / time that both copies take per byte.
  // Nullopt for other ways.
  [[nodiscard]] std::optional<Bytes> rendezvous_from(Place const& from, Place const& to, Demand const& demand,
                                                     Way const& way) const;

  // The time between the end of a GPU's work and the start of a GPUDirect send of its result, beside the send's own
  // start: the CPU must notice the end and submit the send, unless the GPU rings the NIC's doorbell itself. 0 between
  // other steps. Part of a plan's run, not of the time of a transfer alone.
  [[nodiscard]] Seconds handover(Place const& made_at, Way const& before, Way const& after) const;

  // The chunk size with which a two-stage pipeline finishes first: sqrt(bytes x gap x rate), rounded down to a power of
  // two and limited to 64 KiB to 16 MiB. It minimises T(c) = bytes / rate + bytes / c x gap + c / rate.
  static Bytes best_chunk(Bytes bytes, Seconds gap, BytesPerSecond rate);

  [[nodiscard]] std::string name_of(Hop const& hop) const;
  // "gpu0 > sw0 > gpu1"
  [[nodiscard]] std::string text_of(Route const& route) const;
  // "sw0.pcie.up" or "outstanding reads".
  [[nodiscard]] std::string text_of_binding(Cost const& cost) const;

 private:
  struct Facts {
    explicit Facts(Machine of);
    Facts(Machine of, Resources having);
    Facts(Facts const&) = delete;
    Facts& operator=(Facts const&) = delete;
    ~Facts();
    Machine machine;
    Resources resources;
    mutable std::once_flag classes_found, hashed_classes_found;
    mutable std::unique_ptr<PlaceClasses const> classes, hashed_classes;
  };
  // A copy with other resources.
  template <class Widen>
  [[nodiscard]] Model with_resources(Widen widen) const;
  std::shared_ptr<Facts const> facts_;  // shared by one machine's models under different assumptions
  Assumptions assumed_;
};

}  // namespace lanewise
