#pragma once
// Lowers one step to a Demand: routes it with a PathBuilder and adds what engines, drivers and software take. One
// member a mechanism; each family of mechanisms has a file of its own.
#include <algorithm>
#include <optional>
#include <variant>

#include "core/model/lowering/path_builder.hpp"
#include "core/model/resources/figures.hpp"
#include "core/model/resources/overheads.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/machine/machine.hpp"
#include "lanewise/model/resources/demand.hpp"
#include "lanewise/model/resources/resources.hpp"
#include "lanewise/rules/mechanism.hpp"

namespace lanewise {

// The chunk size with which a two-stage pipeline finishes first: see Model::best_chunk().
Bytes best_chunk(Bytes bytes, Seconds gap, BytesPerSecond rate);

class Lowering {
 public:
  // Fills `demand`, which must be empty. The way must fit the places (see Model::lower()).
  Lowering(LoweringTarget const& target, Demand& demand, Place const& from, Place const& to, Bytes bytes, Op op,
           Way const& way)
      : target_(target),
        machine_(target.machine),
        resources_(target.resources),
        assumed_(target.assumed),
        demand_(demand),
        path_(target, demand),
        from_(from),
        to_(to),
        bytes_(bytes),
        op_(op),
        way_(way) {}

  // Throws PlanError when the machine has no route for the way.
  void lower();

 private:
  [[nodiscard]] std::optional<PciId> gpu(Place const& place) const { return gpu_at(machine_, place); }
  [[nodiscard]] PciId gpu_from() const { return std::get<PciId>(from_); }
  [[nodiscard]] PciId gpu_to() const { return std::get<PciId>(to_); }
  [[nodiscard]] bool by_kernel() const { return lanewise::by_kernel(op_); }
  [[nodiscard]] NvlinkUse nvlink_use() const {
    if (!by_kernel()) return NvlinkUse::Copy;
    if (way_.multimem) return NvlinkUse::Multimem;
    return way_.drive == Drive::Pull ? NvlinkUse::Load : NvlinkUse::Store;
  }

  // engines.cpp: starts of engines and kernels, and work of the host, under the model's assumptions
  [[nodiscard]] Seconds engine_start(PciId gpu) const;
  [[nodiscard]] Seconds chunk_gap(PciId gpu) const;
  [[nodiscard]] Seconds event_start() const;
  [[nodiscard]] Seconds kernel_start(PciId gpu) const;
  [[nodiscard]] Seconds host_time(Seconds time) const { return time * assumed_(Parameter::HostWork); }
  void hold_engine(PciId gpu) { demand_.engines.push_back(resources_.copy_engines(gpu)); }
  void hold_peer_engine(PciId gpu) { demand_.engines.push_back(resources_.peer_copy_engines(gpu)); }
  // A start during which an engine or a core can do nothing else.
  void add_busy_start(Seconds time) {
    demand_.start += time;
    demand_.busy += time;
  }
  void start_on(PciId gpu);

  // A part of the way that is measured by itself: its latency and what it reaches alone.
  struct Leg {
    Seconds latency{0};
    std::optional<BytesPerSecond> rate;
  };
  // Routes a leg over a demand of its own. `route` takes a PathBuilder and returns the latency.
  template <class Route>
  [[nodiscard]] Leg measure_leg(Demand& alone, Route route) const {
    PathBuilder builder(target_, alone);
    auto const latency = route(builder);
    return {latency, builder.rate()};
  }
  // The same, and adds it to the whole demand.
  template <class Route>
  Leg add_leg(Route route) {
    Demand alone;
    auto const leg = measure_leg(alone, route);
    path_.append(alone);
    return leg;
  }

  // pcie.cpp
  void pcie_p2p();
  void add_bar1_remaps(PciId from, PciId to, bool pulled);
  void bar_copy();

  // host_memory.cpp
  void local();
  void host_dma();
  void device_dma();
  void add_pageable_copies();
  void limit_page_migration();

  // nvlink.cpp
  void nvlink();
  void nvlink_relay();

  // staging.cpp
  void host_staged();
  void driver_staged(Leg const& out, Leg const& in);
  void shared_host();
  void pipeline(Seconds latency, std::optional<BytesPerSecond> first_leg, Seconds gap);
  void occupy_links(double factor);
  void start_two_legs();
  [[nodiscard]] Seconds driver_staged_start() const;
  [[nodiscard]] Seconds driver_staged_gap() const;
  [[nodiscard]] bool legs_are_sequential(PciId gpu) const;
  void limit_sequential_legs(Leg const& out, Leg const& in);
  void reserve_whole_time(Demand& leg, Demand const& other, double longer) const;

  // network.cpp
  // What happens between the data and the NIC of one end: nothing, a relay, or a copy through host memory.
  struct NetworkEnd {
    Seconds latency{0};
    std::optional<BytesPerSecond> rate;  // of a stage that must fill before the next begins
    bool staged = false;
  };
  void network();
  void start_relayed_copy(PciId gpu);
  void start_staged_copy(PciId gpu);
  NetworkEnd source_end();
  NetworkEnd target_end();
  [[nodiscard]] bool reaches_gpu_memory() const;  // the NIC does, not only host memory
  NetworkEnd remote_drive_end();                  // storage.cpp
  [[nodiscard]] NumaId staging_at_source() const { return *way_.staging; }
  [[nodiscard]] NumaId staging_at_target() const { return way_.staging_to ? *way_.staging_to : *way_.staging; }
  [[nodiscard]] Seconds flush_latency(PciId nic, PciId gpu) const;
  void limit_unpipelined(NetworkEnd const& source, NetworkEnd const& target);
  void limit_message_rate(PciId nic);
  void limit_rdma_reads();
  void limit_queue_pairs();
  void limit_soft_nics();
  void pass_message();
  [[nodiscard]] Seconds message_time(Seconds time) const { return time * assumed_(Parameter::MessagePassing); }

  // storage.cpp
  [[nodiscard]] bool from_drive() const;
  [[nodiscard]] PciId drive() const { return from_drive() ? gpu_from() : gpu_to(); }
  void use_drive();
  void storage_direct();
  void storage_staged();

  // lowering.cpp
  void limit_blocks();
  void limit_warps();
  void set_first_use_cost();
  void apply_override();

  LoweringTarget target_;
  Machine const& machine_;
  Resources const& resources_;
  Assumptions const& assumed_;
  Demand& demand_;
  PathBuilder path_;
  Place const& from_;
  Place const& to_;
  Bytes bytes_;
  Op op_;
  Way const& way_;
};

}  // namespace lanewise
