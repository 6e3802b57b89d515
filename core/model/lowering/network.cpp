// Network transfers: RDMA, GPUDirect RDMA, and copies through host memory at either end.
#include "core/model/lowering/lowering.hpp"

namespace lanewise {

using namespace literals;

BytesPerSecond eager_copy_rate(Machine const& machine, Assumptions const& assumed, Place const& from, Place const& to) {
  auto const copied = [&](Place const& end, BytesPerSecond through_bar) {
    auto const* numa = std::get_if<NumaId>(&end);
    if (numa == nullptr) return through_bar * assumed(Parameter::BarAccess);
    return core_copy(machine, *numa) * assumed(Parameter::CoreCopy);
  };
  auto const per_byte =
      1 / copied(from, overheads::kBarReadRate).value() + 1 / copied(to, overheads::kBarWriteRate).value();
  return BytesPerSecond(1 / per_byte);
}

bool through_sockets(Machine const& machine, Way const& way) {
  for (auto const& nic : {way.nic_from, way.nic_to}) {
    auto const* part = nic ? machine.part_of(*nic) : nullptr;
    if (part != nullptr && !part->nic.rdma) return true;
  }
  return false;
}

void Lowering::limit_message_rate(PciId nic) {
  auto const* part = machine_.part_of(nic);
  if (part != nullptr && part->nic.message_rate && bytes_ > 0_B)
    path_.limit(bytes_ / (1.0 / *part->nic.message_rate) * assumed_(Parameter::NetworkRate), Cap::MessageRate);
}

bool Lowering::reaches_gpu_memory() const {
  return way_.mechanism == Mechanism::Gdr || way_.mechanism == Mechanism::GdrRelay ||
         way_.mechanism == Mechanism::StorageDirect;
}

// To or from the relay's memory: by a copy engine, or by the blocks of a library's kernel, which runs already.
void Lowering::start_relayed_copy(PciId gpu) {
  if (way_.blocks > 0) return;
  add_busy_start(engine_start(gpu));
  hold_peer_engine(gpu);
}

// To or from host memory, likewise.
void Lowering::start_staged_copy(PciId gpu) {
  if (way_.blocks > 0) return;
  add_busy_start(host_time(overheads::kHostSubmit + overheads::kHostSync) + event_start());
  hold_engine(gpu);
}

Lowering::NetworkEnd Lowering::source_end() {
  NetworkEnd end;
  if (!way_.nic_from) return end;
  auto const nic = *way_.nic_from;
  if (is_drive(machine_, from_)) return remote_drive_end();
  if (auto const g = gpu(from_)) {
    if (reaches_gpu_memory()) {
      auto holder = *g;
      if (way_.relay) {
        auto const hop = add_leg([&](PathBuilder& p) { return p.nvlink(*g, *way_.relay, nvlink_use()); });
        end = {hop.latency, hop.rate, true};
        start_relayed_copy(*g);
        holder = *way_.relay;
      }
      end.latency += path_.gpu_to_device(holder, nic);
      add_bar1_remaps(holder, holder, true);
      return end;
    }
    auto const copied = add_leg([&](PathBuilder& p) { return p.gpu_to_memory(*g, staging_at_source()); });
    end = {copied.latency, copied.rate, true};
    start_staged_copy(*g);
    end.latency += path_.memory_to_device(staging_at_source(), nic);
    return end;
  }
  end.latency = path_.memory_to_device(std::get<NumaId>(from_), nic);
  return end;
}

Lowering::NetworkEnd Lowering::target_end() {
  NetworkEnd end;
  if (!way_.nic_to) return end;
  auto const nic = *way_.nic_to;
  if (is_drive(machine_, to_)) return remote_drive_end();
  if (auto const g = gpu(to_)) {
    if (reaches_gpu_memory()) {
      auto const holder = way_.relay_to.value_or(*g);
      auto const received = add_leg([&](PathBuilder& p) { return p.device_to_gpu(nic, holder); });
      end.latency = received.latency + flush_latency(nic, holder);
      add_bar1_remaps(holder, holder, false);
      if (way_.relay_to) {
        end = {end.latency + path_.nvlink(holder, *g, nvlink_use()), received.rate, true};
        start_relayed_copy(holder);
      }
      return end;
    }
    auto const received = add_leg([&](PathBuilder& p) { return p.device_to_memory(nic, staging_at_target()); });
    end = {received.latency + path_.memory_to_gpu(staging_at_target(), *g), received.rate, true};
    start_staged_copy(*g);
    return end;
  }
  end.latency = path_.device_to_memory(nic, std::get<NumaId>(to_));
  return end;
}

// GPUs before Hopper order a received write only after one read over the same path (NCCL, ncclTopoNeedFlush).
Seconds Lowering::flush_latency(PciId nic, PciId gpu) const {
  auto const* part = machine_.part_of(gpu);
  bool const orders_itself = part == nullptr || compute_capability(*part).value_or(9.0) >= 9.0;
  if (orders_itself) return Seconds(0);
  Demand unused;
  return PathBuilder(target_, unused).peer(gpu, nic, true);
}

void Lowering::network() {
  demand_.start += host_time(overheads::kDoorbell);
  demand_.busy = host_time(overheads::kPostWork);
  bool const by_mpi = way_.carrier == Carrier::Mpi;
  auto const source = source_end();
  demand_.path += source.latency;
  if (way_.nic_from && way_.nic_to)
    demand_.path += way_.in_network ? path_.wire_to_adding_switches(*way_.nic_from, *way_.nic_to)
                                    : path_.wire(*way_.nic_from, *way_.nic_to);
  else if (way_.nic_from)
    path_.wire_out(*way_.nic_from);
  else
    path_.wire_in(*way_.nic_to);
  auto const target = target_end();
  demand_.path += target.latency;
  for (auto const& nic : {way_.nic_from, way_.nic_to})
    if (nic) limit_message_rate(*nic);
  if (op_ == Op::Read) limit_rdma_reads();
  limit_queue_pairs();
  if (by_mpi) pass_message();
  if (!by_mpi || !through_sockets(machine_, way_)) limit_soft_nics();
  auto const stages = (source.staged ? 1 : 0) + (target.staged ? 1 : 0);
  if (stages == 0) return;
  if (way_.mechanism == Mechanism::SharedHost) return limit_unpipelined(source, target);
  auto fill_rate = source.staged ? source.rate : target.rate;
  if (source.staged && target.staged && source.rate && target.rate)  // two stages fill, one after the other
    fill_rate = BytesPerSecond(1 / (1 / source.rate->value() + 1 / target.rate->value()));
  // A drive has the next commands in its queue; where no GPU copies, a chunk costs only that it is posted.
  bool const a_gpu_copies = way_.mechanism != Mechanism::StorageDirect && way_.mechanism != Mechanism::Rdma;
  pipeline(0.0_s, fill_rate, a_gpu_copies ? event_start() : host_time(overheads::kPostWork));
}

// What MPI adds to the way: its work for a message at both ends; the kernel's, where it goes through sockets; for a
// read the message that asks for it; and for large messages the sender's question and the receiver's answer before the
// bytes go (rendezvous). Small messages are sent at once and copied at both ends (eager): by the kernel where they go
// through sockets, else by the library, which takes the cheaper of the two protocols.
void Lowering::pass_message() {
  bool const by_sockets = through_sockets(machine_, way_);
  add_busy_start(message_time(overheads::kMessage));
  if (by_sockets) {
    for (auto const& nic : {way_.nic_from, way_.nic_to}) {
      if (!nic) continue;
      auto const* part = machine_.part_of(*nic);
      demand_.path += message_time(figures::socket_latency(part));
      path_.socket_copy(machine_.numa_of(*nic));
      path_.limit(figures::socket_bandwidth(part) * (1 / assumed_(Parameter::MessagePassing)), Cap::SocketStream);
    }
  }
  if (!way_.nic_from || !way_.nic_to) return;  // there is no other end here
  auto const one_way = demand_.path;
  bool const is_direct = way_.mechanism == Mechanism::Rdma || way_.mechanism == Mechanism::Gdr;
  if (op_ == Op::Read && is_direct) demand_.path += one_way;
  auto const rendezvous = 2 * one_way;
  auto const message = way_.chunk > 0_B && !is_direct ? std::min(way_.chunk, bytes_) : bytes_;
  if (by_sockets) {
    if (message > overheads::kSocketEager) demand_.path += rendezvous;
    return;
  }
  auto const from = way_.staging && gpu(from_) ? Place(staging_at_source()) : from_;
  auto const to = way_.staging && gpu(to_) ? Place(staging_at_target()) : to_;
  demand_.path += std::min(rendezvous, message / eager_copy_rate(machine_, assumed_, from, to));
}

// Without a pipeline the copies and the wire follow one another.
void Lowering::limit_unpipelined(NetworkEnd const& source, NetworkEnd const& target) {
  auto const rate = path_.rate();
  if (!rate) return;
  double seconds_per_byte = 1 / rate->value();
  for (auto const& stage : {source, target})
    if (stage.staged && stage.rate) seconds_per_byte += 1 / stage.rate->value();
  path_.limit(BytesPerSecond(1 / seconds_per_byte), Cap::SequentialLegs);
}

void Lowering::limit_rdma_reads() {
  for (auto const& nic : {way_.nic_from, way_.nic_to}) {
    auto const* part = nic ? machine_.part_of(*nic) : nullptr;
    if (part != nullptr && part->nic.read_bandwidth)
      path_.limit(*part->nic.read_bandwidth * assumed_(Parameter::NetworkRate), Cap::RdmaRead);
  }
}

void Lowering::limit_queue_pairs() {
  if (way_.queue_pairs == 0) return;
  for (auto const& nic : {way_.nic_from, way_.nic_to}) {
    auto const* part = nic ? machine_.part_of(*nic) : nullptr;
    if (part == nullptr || !part->nic.queue_pair_bandwidth) continue;
    path_.limit(*part->nic.queue_pair_bandwidth * (way_.queue_pairs * assumed_(Parameter::NetworkRate)),
                Cap::QueuePair);
  }
}

// Soft-RoCE has no DMA engine of its own: a core copies every packet (Linux drivers/infiniband/sw/rxe).
void Lowering::limit_soft_nics() {
  for (auto const& nic : {way_.nic_from, way_.nic_to}) {
    auto const* part = nic ? machine_.part_of(*nic) : nullptr;
    if (part == nullptr || part->nic.driver != "rxe") continue;
    auto const memory = machine_.numa_of(*nic);
    path_.cpu_copy(memory, memory);
  }
}

}  // namespace lanewise
