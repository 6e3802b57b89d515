#include "core/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/io/error.hpp"
#include "core/model/figures.hpp"
#include "core/model/overheads.hpp"
#include "core/model/path_builder.hpp"
#include "core/rules/conditions.hpp"
#include "core/units/text.hpp"

namespace lanewise {
namespace {

using namespace literals;

// Lowers one step; a member a family of mechanisms.
class Lowering {
 public:
  Lowering(Model const& model, Demand& demand, Place const& from, Place const& to, Bytes bytes, Op op, Way const& way)
      : model_(model),
        machine_(model.machine()),
        resources_(model.resources()),
        demand_(demand),
        path_(model, demand),
        from_(from),
        to_(to),
        bytes_(bytes),
        op_(op),
        way_(way) {}

  void lower() {
    bool const by_gpu = way_.mechanism == Mechanism::PcieP2p || way_.mechanism == Mechanism::HostDma;
    if (by_kernel() && by_gpu && way_.access.each == 0_B) path_.read_in_cache_lines();
    switch (way_.mechanism) {
      case Mechanism::Local: local(); break;
      case Mechanism::Nvlink: nvlink(); break;
      case Mechanism::NvlinkRelay: nvlink_relay(); break;
      case Mechanism::PcieP2p: pcie_p2p(); break;
      case Mechanism::HostDma: host_dma(); break;
      case Mechanism::HostStaged: host_staged(); break;
      case Mechanism::SharedHost: shared_host(); break;
      case Mechanism::BarCopy: bar_copy(); break;
      case Mechanism::Rdma:
      case Mechanism::Gdr:
      case Mechanism::GdrRelay:
      case Mechanism::NetStaged: network(); break;
      case Mechanism::StorageDirect: storage_direct(); break;
      case Mechanism::StorageStaged: storage_staged(); break;
    }
    if (migrates(op_)) migrate();
    if (way_.pageable) copy_pageable();
    set_up();
    apply_override();
  }

 private:
  [[nodiscard]] std::optional<PciId> gpu(Place const& place) const { return gpu_at(machine_, place); }
  [[nodiscard]] PciId gpu_from() const { return std::get<PciId>(from_); }
  [[nodiscard]] PciId gpu_to() const { return std::get<PciId>(to_); }
  [[nodiscard]] bool by_kernel() const { return lanewise::by_kernel(op_); }
  [[nodiscard]] NvlinkUse by_nvlink() const {
    if (!by_kernel()) return NvlinkUse::Copy;
    return way_.drive == Drive::Pull ? NvlinkUse::Load : NvlinkUse::Store;
  }
  // Times of software and engines, under the assumptions of this model.
  [[nodiscard]] Seconds engine_start(PciId gpu) const {
    auto const* part = machine_.part_of(gpu);
    bool const direct = way_.mechanism == Mechanism::HostDma || way_.mechanism == Mechanism::Nvlink;
    bool const with_host = direct && (std::holds_alternative<NumaId>(from_) || std::holds_alternative<NumaId>(to_));
    return (with_host ? figures::host_copy_start(part) : figures::copy_start(part)) *
           model_.assumed()(Parameter::EngineStart);
  }
  [[nodiscard]] Seconds chunk_gap(PciId gpu) const {
    return figures::chunk_gap(machine_.part_of(gpu)) * model_.assumed()(Parameter::EngineStart);
  }
  // An engine that first waits for another's event: no part says better.
  [[nodiscard]] Seconds chunk_start() const {
    return overheads::kCopyEngineStart * model_.assumed()(Parameter::EngineStart);
  }
  [[nodiscard]] Seconds kernel_start(PciId gpu) const {
    return figures::kernel_start(machine_.part_of(gpu)) * model_.assumed()(Parameter::EngineStart);
  }
  [[nodiscard]] Seconds by_host(Seconds time) const { return time * model_.assumed()(Parameter::HostWork); }

  void hold_engine(PciId gpu) { demand_.engines.push_back(resources_.copy_engines(gpu)); }
  void hold_peer_engine(PciId gpu) { demand_.engines.push_back(resources_.peer_copy_engines(gpu)); }
  void keep_busy(Seconds time) {
    demand_.start += time;
    demand_.busy += time;
  }
  // A copy engine of `gpu` starts, or a kernel on it.
  void start_on(PciId gpu) {
    keep_busy(by_kernel() ? kernel_start(gpu) : engine_start(gpu));
    bool const peers = way_.mechanism == Mechanism::Nvlink || way_.mechanism == Mechanism::PcieP2p;
    bool const between_gpus = std::holds_alternative<PciId>(from_) && std::holds_alternative<PciId>(to_);
    if (peers && between_gpus && op_ == Op::Copy && way_.drive == Drive::Pull)
      keep_busy(figures::pulled_start(machine_.part_of(gpu)) * model_.assumed()(Parameter::EngineStart));
    if (by_kernel()) return;
    if (way_.mechanism == Mechanism::NvlinkRelay || (way_.mechanism == Mechanism::Nvlink && between_gpus))
      hold_peer_engine(gpu);
    else
      hold_engine(gpu);
  }

  void local() {
    if (auto const g = gpu(from_)) {
      path_.hop(HopKind::Function, static_cast<std::uint32_t>(index(*g)));
      path_.use(resources_.device_memory(*g), 2);  // nothing else bounds it: without this figure there is no cost
      keep_busy(figures::local_copy_start(machine_.part_of(*g)) * model_.assumed()(Parameter::EngineStart));
      hold_engine(*g);
      return;
    }
    path_.cpu_copy(std::get<NumaId>(from_), std::get<NumaId>(to_), std::max(1, way_.cores));
  }

  void nvlink() {
    auto const a = gpu(from_);
    auto const b = gpu(to_);
    if (a && b) {
      demand_.path = path_.nvlink(*a, *b, by_nvlink());
      // A read waits for its data, a copy for the acknowledgement of its last write: unlike PCIe's, NVLink's writes are
      // answered. 4 B copies take 2.8 us on H100 and 2.9 us on V100 over NVSwitch, 1.9 us over a PCIe root complex.
      if (way_.drive == Drive::Pull || op_ == Op::Copy) demand_.path = demand_.path * 2.0;
    } else if (a) {
      demand_.path = path_.gpu_into_memory(*a, std::get<NumaId>(to_));
    } else {
      demand_.path = path_.memory_into_gpu(std::get<NumaId>(from_), *b);
    }
    start_on(b && (!a || way_.drive == Drive::Pull) ? *b : *a);
  }

  // Pipelined through the relay's memory in chunks: both legs run at once after the first chunk.
  void nvlink_relay() {
    auto const first = path_.nvlink(gpu_from(), *way_.relay, by_nvlink());
    auto const filled = path_.rate();
    auto const second = path_.nvlink(*way_.relay, gpu_to(), by_nvlink());
    path_.device_memory(*way_.relay, 2);
    start_on(gpu_from());
    start_on(*way_.relay);
    pipeline(first + second, filled, chunk_gap(gpu_from()));
  }

  void pcie_p2p() {
    bool const pulled = way_.drive == Drive::Pull;
    demand_.path = path_.peer(gpu_from(), gpu_to(), pulled);
    map_window(gpu_from(), gpu_to(), pulled);
    start_on(pulled ? gpu_to() : gpu_from());
  }

  // A buffer larger than the peer's BAR1 window is mapped piece by piece.
  void map_window(PciId from, PciId to, bool pulled) {
    auto const* part = machine_.part_of(pulled ? from : to);
    if (part == nullptr) return;
    auto const window = bar1_window(*part);
    if (!window || *window <= 0_B || bytes_ <= *window) return;
    auto const remaps = (bytes_.value() - 1) / window->value();
    demand_.path += by_host(overheads::kBarPin) * static_cast<double>(remaps);
  }

  // A device's DMA, to or from host memory: a GPU's copy engine, a drive, or any other with the access it is asked for.
  void host_dma() {
    path_.access_in(way_.access);
    if (way_.access.each > 0_B) return device_dma();
    if (auto const g = gpu(from_)) {
      demand_.path = path_.gpu_into_memory(*g, std::get<NumaId>(to_));
      start_on(*g);
    } else if (auto const target = gpu(to_)) {
      demand_.path = path_.memory_into_gpu(std::get<NumaId>(from_), *target);
      start_on(*target);
    } else {
      use_drive();
      demand_.path += from_drive() ? path_.into_memory(drive(), std::get<NumaId>(to_))
                                   : path_.out_of_memory(std::get<NumaId>(from_), drive());
    }
  }

  void device_dma() {
    auto const* source = std::get_if<PciId>(&from_);
    auto const device = source != nullptr ? *source : gpu_to();
    demand_.path = source != nullptr ? path_.into_memory(device, std::get<NumaId>(to_))
                                     : path_.out_of_memory(std::get<NumaId>(from_), device);
    auto const* part = machine_.part_of(device);
    if (source != nullptr && part != nullptr && part->nic.message_rate)  // posted; reads have their tags
      path_.limit(way_.access.each / (1.0 / *part->nic.message_rate) * model_.assumed()(Parameter::NetworkRate),
                  Cap::MessageRate);
  }

  // ------------------------------------------------------------------------------------------------- through the host

  struct Leg {
    Seconds latency{0};
    std::optional<BytesPerSecond> rate;
  };
  // Lays one leg by itself to measure it.
  template <class Lay>
  [[nodiscard]] Leg leg_alone(Demand& alone, Lay lay) const {
    PathBuilder builder(model_, alone);
    auto const latency = lay(builder);
    return {latency, builder.rate()};
  }
  // And adds it to the whole demand.
  template <class Lay>
  Leg leg(Lay lay) {
    Demand alone;
    auto const found = leg_alone(alone, lay);
    path_.append(alone);
    return found;
  }

  // Both legs of a ring of chunks run at once; a chunk must arrive whole before it goes on.
  void pipeline(Seconds latency, std::optional<BytesPerSecond> first_leg, Seconds gap) {
    auto const rate = path_.rate();
    demand_.path += latency;
    demand_.chunk = way_.chunk > 0_B ? way_.chunk
                    : rate           ? Model::best_chunk(bytes_, gap, *rate)
                                     : overheads::kDefaultChunk;
    if (!rate || !first_leg) return;
    auto const chunk = demand_.chunk;
    auto const filled = std::min(chunk, bytes_);
    if (bytes_ > chunk) path_.limit(chunk / (chunk / *rate + gap), Cap::ChunkOverhead);
    demand_.path += filled / *first_leg;
  }

  void start_two_legs() {
    keep_busy(by_host(overheads::kHostSubmit * 2.0 + overheads::kHostSync) + chunk_start() * 2.0);
    hold_engine(gpu_from());
    hold_engine(gpu_to());
  }

  // Of the driver's staged copies: as the source's part says, or made up of what the host and the engines do.
  [[nodiscard]] Seconds staged_start() const {
    auto const* part = machine_.part_of(gpu_from());
    if (part != nullptr && part->gpu.staged_start) return by_host(*part->gpu.staged_start);
    return by_host((overheads::kHostSubmit + overheads::kHostSync) * 2.0) + chunk_start() * 2.0;
  }
  [[nodiscard]] Seconds staged_gap() const {
    auto const* part = machine_.part_of(gpu_from());
    if (part != nullptr && part->gpu.staged_gap) return by_host(*part->gpu.staged_gap);
    return by_host(overheads::kHostSync + overheads::kHostSubmit) + chunk_start();
  }

  void host_staged() {
    auto const memory = *way_.staging;
    auto const out = leg([&](PathBuilder& p) { return p.gpu_into_memory(gpu_from(), memory); });
    auto const in = leg([&](PathBuilder& p) { return p.memory_into_gpu(memory, gpu_to()); });
    if (!way_.by_driver) {
      start_two_legs();
      return pipeline(out.latency + in.latency, out.rate, chunk_gap(gpu_from()));
    }
    keep_busy(staged_start());
    hold_engine(gpu_from());
    hold_engine(gpu_to());
    auto const gap = staged_gap();
    auto const chunk = std::min(bytes_, overheads::kDriverChunk);
    bool const in_turn = legs_in_turn(gpu_from()) || legs_in_turn(gpu_to());
    demand_.chunk = overheads::kDriverChunk;
    demand_.path += out.latency + in.latency;
    if (!out.rate || !in.rate) return;
    if (!in_turn) demand_.path += chunk / *out.rate;  // the first chunk arrives whole before the second leg begins
    if (bytes_ <= overheads::kDriverChunk && !in_turn) return;
    // What a leg has is used only between the pauses, so each byte takes that much more of everything on the way.
    auto const leg_time = in_turn ? overheads::kDriverChunk / *out.rate + overheads::kDriverChunk / *in.rate
                                  : overheads::kDriverChunk / std::min(*out.rate, *in.rate);
    auto const pauses = (leg_time + gap) / leg_time;
    if (in_turn)
      path_.scale_in_turn(pauses);
    else
      path_.scale(pauses);
    for (auto const gpu : {gpu_from(), gpu_to()})
      if (auto const both = resources_.driver_staging(gpu)) path_.use(*both);
    path_.limit(overheads::kDriverChunk / (leg_time + gap), in_turn ? Cap::SequentialLegs : Cap::ChunkOverhead);
  }
  [[nodiscard]] bool legs_in_turn(PciId gpu) const {
    auto const* part = machine_.part_of(gpu);
    return part != nullptr && part->gpu.staged_legs == StagedLegs::InTurn;
  }

  // The whole message is written, then read: the two legs take turns.
  void limit_sequential_legs(Leg const& out, Leg const& in) {
    demand_.path += out.latency + in.latency;
    if (out.rate && in.rate)
      path_.limit(BytesPerSecond(1 / (1 / out.rate->value() + 1 / in.rate->value())), Cap::SequentialLegs);
  }

  void shared_host() {
    auto const memory = *way_.staging;
    if (way_.nic_from || way_.nic_to) return network();
    Demand out;
    Demand in;
    auto const out_leg = leg_alone(out, [&](PathBuilder& p) { return p.gpu_into_memory(gpu_from(), memory); });
    auto const in_leg = leg_alone(in, [&](PathBuilder& p) { return p.memory_into_gpu(memory, gpu_to()); });
    if (out_leg.rate && in_leg.rate) {
      auto const taken = out;
      hold_for_both(out, in, 1 + *out_leg.rate / *in_leg.rate);
      hold_for_both(in, taken, 1 + *in_leg.rate / *out_leg.rate);
    }
    path_.append(out);
    path_.append(in);
    start_two_legs();
    limit_sequential_legs(out_leg, in_leg);
  }
  // What one leg uses and the other does not is kept for all of the time from those who want both: nothing of theirs
  // fills it while it rests. `longer`: all of the time over that of the leg.
  void hold_for_both(Demand& leg, Demand const& other, double longer) const {
    for (auto& use : leg.uses)
      if (resources_.at(use.resource).kind != ResourceKind::HostDuplex &&
          std::none_of(other.uses.begin(), other.uses.end(), [&](Use const& u) { return u.resource == use.resource; }))
        use.weight = Weight::floor_of(use.weight.ratio() * longer);
  }

  void bar_copy() {
    if (auto const g = gpu(from_)) {
      path_.into_memory(*g, way_.staging.value_or(machine_.numa_of(*g)));  // its time is in the figure below
      demand_.start += overheads::kBarReadStart * model_.assumed()(Parameter::BarAccess);
      path_.limit(overheads::kBarReadRate * model_.assumed()(Parameter::BarAccess), Cap::BarRead);
      map_window(*g, *g, true);
    }
    if (auto const g = gpu(to_)) {
      demand_.path += path_.out_of_memory(way_.staging.value_or(machine_.numa_of(*g)), *g);
      demand_.start += overheads::kBarWriteStart * model_.assumed()(Parameter::BarAccess);
      path_.limit(overheads::kBarWriteRate * model_.assumed()(Parameter::BarAccess), Cap::BarWrite);
      map_window(*g, *g, false);
    }
  }

  // ---------------------------------------------------------------------------------------------------------- network

  [[nodiscard]] NumaId staging_at_source() const { return *way_.staging; }
  [[nodiscard]] NumaId staging_at_target() const { return way_.staging_to ? *way_.staging_to : *way_.staging; }

  void message_rate(PciId nic) {
    auto const* part = machine_.part_of(nic);
    if (part != nullptr && part->nic.message_rate && bytes_ > 0_B)
      path_.limit(bytes_ / (1.0 / *part->nic.message_rate) * model_.assumed()(Parameter::NetworkRate),
                  Cap::MessageRate);
  }

  // What happens before the source's NIC sends: nothing, a relay, or a copy to host memory.
  struct Front {
    Seconds latency{0};
    std::optional<BytesPerSecond> rate;  // of a first stage that must fill before the next begins
    bool staged = false;
  };

  Front source_side() {
    Front front;
    if (!way_.nic_from) return front;
    auto const nic = *way_.nic_from;
    if (auto const g = gpu(from_)) {
      if (way_.mechanism == Mechanism::Gdr || way_.mechanism == Mechanism::GdrRelay) {
        auto holder = *g;
        if (way_.relay) {
          auto const hop = leg([&](PathBuilder& p) { return p.nvlink(*g, *way_.relay, by_nvlink()); });
          front = {hop.latency, hop.rate, true};
          keep_busy(engine_start(*g));
          hold_peer_engine(*g);
          holder = *way_.relay;
        }
        front.latency += path_.gpu_into_device(holder, nic);
        map_window(holder, holder, true);
        return front;
      }
      auto const copied = leg([&](PathBuilder& p) { return p.gpu_into_memory(*g, staging_at_source()); });
      front = {copied.latency, copied.rate, true};
      keep_busy(by_host(overheads::kHostSubmit + overheads::kHostSync) + chunk_start());
      hold_engine(*g);
      front.latency += path_.out_of_memory(staging_at_source(), nic);
      return front;
    }
    front.latency = path_.out_of_memory(std::get<NumaId>(from_), nic);
    return front;
  }

  Front target_side() {
    Front back;
    if (!way_.nic_to) return back;
    auto const nic = *way_.nic_to;
    if (auto const g = gpu(to_)) {
      if (way_.mechanism == Mechanism::Gdr || way_.mechanism == Mechanism::GdrRelay) {
        auto const holder = way_.relay_to.value_or(*g);
        auto const received = leg([&](PathBuilder& p) { return p.device_into_gpu(nic, holder); });
        back.latency = received.latency + flush(nic, holder);
        map_window(holder, holder, false);
        if (way_.relay_to) {
          back = {back.latency + path_.nvlink(holder, *g, by_nvlink()), received.rate, true};
          keep_busy(engine_start(holder));
          hold_peer_engine(holder);
        }
        return back;
      }
      auto const received = leg([&](PathBuilder& p) { return p.into_memory(nic, staging_at_target()); });
      back = {received.latency + path_.memory_into_gpu(staging_at_target(), *g), received.rate, true};
      keep_busy(by_host(overheads::kHostSubmit + overheads::kHostSync) + chunk_start());
      hold_engine(*g);
      return back;
    }
    back.latency = path_.into_memory(nic, std::get<NumaId>(to_));
    return back;
  }

  // GPUs before Hopper order a received write only after one read over the same path (NCCL, ncclTopoNeedFlush).
  Seconds flush(PciId nic, PciId gpu) const {
    auto const* part = machine_.part_of(gpu);
    bool const orders_itself = part == nullptr || compute_capability(*part).value_or(9.0) >= 9.0;
    if (orders_itself) return Seconds(0);
    Demand unused;
    return PathBuilder(model_, unused).peer(gpu, nic, true);
  }

  void network() {
    demand_.start += by_host(overheads::kDoorbell);
    demand_.busy = by_host(overheads::kPostWork);
    auto const front = source_side();
    demand_.path += front.latency;
    if (way_.nic_from && way_.nic_to)
      demand_.path += path_.wire(*way_.nic_from, *way_.nic_to);
    else if (way_.nic_from)
      path_.wire_out(*way_.nic_from);
    else
      path_.wire_in(*way_.nic_to);
    auto const back = target_side();
    demand_.path += back.latency;
    for (auto const& nic : {way_.nic_from, way_.nic_to})
      if (nic) message_rate(*nic);
    if (op_ == Op::Read) limit_rdma_read();
    limit_queue_pairs();
    limit_soft_nic();
    auto const stages = (front.staged ? 1 : 0) + (back.staged ? 1 : 0);
    if (stages == 0) return;
    if (way_.mechanism == Mechanism::SharedHost) return whole_message(front, back);
    auto filled = front.staged ? front.rate : back.rate;
    if (front.staged && back.staged && front.rate && back.rate)  // two stages fill, one after the other
      filled = BytesPerSecond(1 / (1 / front.rate->value() + 1 / back.rate->value()));
    pipeline(0.0_s, filled, chunk_start());
  }

  // Without a pipeline the copies and the wire take turns.
  void whole_message(Front const& front, Front const& back) {
    auto const rate = path_.rate();
    if (!rate) return;
    double seconds_per_byte = 1 / rate->value();
    for (auto const& stage : {front, back})
      if (stage.staged && stage.rate) seconds_per_byte += 1 / stage.rate->value();
    path_.limit(BytesPerSecond(1 / seconds_per_byte), Cap::SequentialLegs);
  }

  void limit_rdma_read() {
    for (auto const& nic : {way_.nic_from, way_.nic_to}) {
      auto const* part = nic ? machine_.part_of(*nic) : nullptr;
      if (part != nullptr && part->nic.read_bandwidth)
        path_.limit(*part->nic.read_bandwidth * model_.assumed()(Parameter::NetworkRate), Cap::RdmaRead);
    }
  }

  void limit_queue_pairs() {
    if (way_.queue_pairs == 0) return;
    for (auto const& nic : {way_.nic_from, way_.nic_to}) {
      auto const* part = nic ? machine_.part_of(*nic) : nullptr;
      if (part == nullptr || !part->nic.queue_pair_bandwidth) continue;
      path_.limit(*part->nic.queue_pair_bandwidth * (way_.queue_pairs * model_.assumed()(Parameter::NetworkRate)),
                  Cap::QueuePair);
    }
  }

  // Soft-RoCE has no DMA engine of its own: a core copies every packet (Linux drivers/infiniband/sw/rxe).
  void limit_soft_nic() {
    for (auto const& nic : {way_.nic_from, way_.nic_to}) {
      auto const* part = nic ? machine_.part_of(*nic) : nullptr;
      if (part == nullptr || part->nic.driver != "rxe") continue;
      auto const memory = machine_.numa_of(*nic);
      path_.cpu_copy(memory, memory);
    }
  }

  // ---------------------------------------------------------------------------------------------------------- storage

  [[nodiscard]] bool from_drive() const {
    auto const* id = std::get_if<PciId>(&from_);
    return id != nullptr && machine_.at(*id).kind != PciKind::Gpu;
  }
  PciId drive() const { return from_drive() ? gpu_from() : gpu_to(); }
  void use_drive() {
    if (machine_.at(drive()).kind != PciKind::Nvme)
      return;  // a capture card or an accelerator: only its link bounds it
    auto const duplex = resources_.drive(drive());
    path_.use(from_drive() ? duplex.up : duplex.down);
    auto const* part = machine_.part_of(drive());
    if (from_drive() && part != nullptr) demand_.path += part->nvme.read_latency.value_or(Seconds(0));
    demand_.start += by_host(overheads::kHostSubmit);
  }

  void storage_direct() {
    use_drive();
    demand_.path +=
        from_drive() ? path_.device_into_gpu(gpu_from(), gpu_to()) : path_.gpu_into_device(gpu_from(), gpu_to());
  }

  void storage_staged() {
    use_drive();
    auto const other = from_drive() ? gpu_to() : gpu_from();
    auto const memory = *way_.staging;
    auto const out = leg([&](PathBuilder& p) {
      return from_drive() ? p.into_memory(drive(), memory) : p.gpu_into_memory(other, memory);
    });
    auto const in = leg([&](PathBuilder& p) {
      return from_drive() ? p.memory_into_gpu(memory, other) : p.out_of_memory(memory, drive());
    });
    keep_busy(by_host(overheads::kHostSubmit + overheads::kHostSync) + chunk_start());
    hold_engine(other);
    pipeline(out.latency + in.latency, out.rate, chunk_start());
  }

  // ------------------------------------------------------------------------------------------------- what comes on top

  // Unified Memory: 2 MiB blocks, each with its bytes and its share of the driver's work.
  void migrate() {
    auto const factor = 1 / model_.assumed()(Parameter::PageMigration);
    bool const faults = op_ == Op::Fault;
    demand_.start += faults ? overheads::kFirstFault * factor : by_host(overheads::kHostSubmit);
    auto const rate = path_.rate();
    if (!rate) return;
    auto const work = (faults ? overheads::kFaultBlock : overheads::kPrefetchBlock) * factor;
    path_.limit(overheads::kMigrationBlock / (overheads::kMigrationBlock / *rate + work), Cap::PageMigration);
  }

  // Pageable host memory: one core copies every byte to or from a pinned chunk, beside the engine's work on another.
  void copy_pageable() {
    for (auto const& end : {from_, to_}) {
      auto const* memory = std::get_if<NumaId>(&end);
      if (memory == nullptr || (gpu(from_) == gpu(to_))) continue;
      path_.cpu_copy(*memory, *memory);
      demand_.start += by_host(overheads::kHostSubmit + overheads::kHostSync);
    }
  }

  // What the first such transfer pays and no other.
  void set_up() {
    switch (way_.mechanism) {
      case Mechanism::PcieP2p:
      case Mechanism::NvlinkRelay: demand_.once = overheads::kEnablePeer; break;
      case Mechanism::Nvlink:
        if (gpu(from_) && gpu(to_)) demand_.once = overheads::kEnablePeer;
        break;
      case Mechanism::BarCopy: demand_.once = overheads::kBarPin; break;
      case Mechanism::Rdma:
      case Mechanism::Gdr:
      case Mechanism::GdrRelay:
        demand_.once =
            overheads::kRegister + Seconds(overheads::kRegisterPerByte * static_cast<double>(bytes_.value()));
        break;
      default: break;
    }
    demand_.once = by_host(demand_.once);
  }

  // --------------------------------------------------------------------------------------------------------- override

  // A measured figure wins: it becomes the rate of this flow alone. Where the model promised less, its resources are
  // taken to be that much wider for this flow; one whose capacity nobody knows cannot be shared out and is left away.
  void apply_override() {
    bool const direct = way_.mechanism == Mechanism::Nvlink || way_.mechanism == Mechanism::PcieP2p ||
                        way_.mechanism == Mechanism::HostDma || way_.mechanism == Mechanism::Local;
    if (!direct) return;
    for (auto const& entry : machine_.overrides) {
      if (entry.from != from_ || entry.to != to_ || (entry.op && *entry.op != op_)) continue;
      if (entry.latency) {
        demand_.start = Seconds(0);
        demand_.path = *entry.latency;
      }
      if (!entry.bandwidth) continue;
      demand_.unknown.reset();
      demand_.cap = kUnlimited;
      auto const uses = std::exchange(demand_.uses, {});
      for (auto use : uses) {
        auto const capacity = model_.capacity(use.resource);
        if (!capacity) continue;  // what nobody knows bounds nothing beside a measurement
        if (*capacity / use.weight.ratio() < *entry.bandwidth)
          use.weight = Weight::floor_of(*capacity / *entry.bandwidth);
        demand_.uses.push_back(use);
      }
      path_.limit(*entry.bandwidth, Cap::Measured);
    }
  }

  Model const& model_;
  Machine const& machine_;
  Resources const& resources_;
  Demand& demand_;
  PathBuilder path_;
  Place const& from_;
  Place const& to_;
  Bytes bytes_;
  Op op_;
  Way const& way_;
};

}  // namespace

Demand Model::lower(Place const& from, Place const& to, Bytes bytes, Op op, Way const& way) const {
  Demand demand;
  Lowering(*this, demand, from, to, bytes, op, way).lower();
  return demand;
}

Model Model::widened(std::span<ResourceId const> resources, double times) const {
  auto facts = std::make_shared<Facts>(*facts_);
  for (auto const resource : resources) facts->resources.widen(resource, times);
  auto other = *this;
  other.facts_ = std::move(facts);
  return other;
}

Model Model::widened(EngineId engine, int slots) const {
  auto facts = std::make_shared<Facts>(*facts_);
  facts->resources.widen(engine, slots);
  auto other = *this;
  other.facts_ = std::move(facts);
  return other;
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
  // A core copies host memory; GPU memory it copies through BAR1.
  auto const copied = [&](Place const& end, BytesPerSecond through_bar) {
    auto const* numa = std::get_if<NumaId>(&end);
    if (numa == nullptr) return through_bar * assumed_(Parameter::BarAccess);
    return core_copy(machine(), *numa) * assumed_(Parameter::CoreCopy);
  };
  auto const per_byte =
      1 / copied(from, overheads::kBarReadRate).value() + 1 / copied(to, overheads::kBarWriteRate).value();
  return Bytes(static_cast<std::int64_t>(2 * demand.latency().value() / per_byte));
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
  constexpr std::int64_t kSmallest = 64 << 10;
  constexpr std::int64_t kLargest = 16 << 20;
  auto const ideal = std::sqrt(static_cast<double>(bytes.value()) * gap.value() * rate.value());
  auto const bounded = std::clamp(static_cast<std::int64_t>(ideal), kSmallest, kLargest);
  return Bytes(static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bounded))));
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
    case HopKind::Leaf: return machine().fabric->leaves[hop.id].name;
    case HopKind::Spine: return "spine";
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
