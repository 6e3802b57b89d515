// The ways a transfer could go: mechanisms by the kinds of the two places, with NICs, relays and staging memories.
#include <algorithm>

#include "core/machine/fabric_ways.hpp"
#include "core/machine/nvlink_bundles.hpp"
#include "core/planner/nic_selection.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {
namespace {

enum class End : std::uint8_t { Gpu, Memory, Nic, Drive };

End kind_of(Machine const& machine, Place const& place) {
  auto const* id = std::get_if<PciId>(&place);
  if (id == nullptr) return End::Memory;
  switch (machine.at(*id).kind) {
    case PciKind::Gpu: return End::Gpu;
    case PciKind::Nic: return End::Nic;
    default: return End::Drive;
  }
}

NumaId nearest_numa(Machine const& machine, Place const& place) {
  auto const* id = std::get_if<PciId>(&place);
  return id != nullptr ? machine.numa_of(*id) : std::get<NumaId>(place);
}

class WayEnumerator {
 public:
  WayEnumerator(Machine const& machine, Request const& request)
      : machine_(machine), request_(request), nics_(machine) {}

  std::vector<Way> list() {
    ways_.reserve(16);
    auto const from = kind_of(machine_, request_.from);
    auto const to = kind_of(machine_, request_.to);
    bool const one_node = machine_.host_of(request_.from) == machine_.host_of(request_.to);
    if (migrates(request_.op) && !(one_node && can_migrate(from, to))) return {};
    if (request_.op == Op::Send && one_node) return {};  // a message goes to the queue pair of another node
    if (one_node)
      within_node(from, to);
    else
      across_nodes(from, to);
    for (auto& way : ways_) apply_request(way, from, to);
    if (request_.only) std::erase_if(ways_, [&](Way const& way) { return way.mechanism != *request_.only; });
    return std::move(ways_);
  }

 private:
  // Unified Memory is between GPUs, and between a GPU and host memory.
  static bool can_migrate(End from, End to) {
    auto const has_memory = [](End end) { return end == End::Gpu || end == End::Memory; };
    return has_memory(from) && has_memory(to) && (from == End::Gpu || to == End::Gpu);
  }

  void within_node(End from, End to) {
    if (from == End::Gpu && to == End::Gpu)
      between_gpus();
    else if (from == End::Nic || to == End::Nic)
      to_or_from_nic(from, to);
    else if (from == End::Drive || to == End::Drive)
      with_drive(from, to);
    else if (from == End::Memory && to == End::Memory)
      add({.mechanism = Mechanism::Local});
    else
      gpu_and_memory();
  }

  // Copies the request's wishes to a way that they apply to.
  void apply_request(Way& way, End from, End to) const {
    way.by_driver = request_.by_driver && way.mechanism == Mechanism::HostStaged;
    bool const to_memory = way.mechanism == Mechanism::HostDma || way.mechanism == Mechanism::Nvlink;
    bool const over_network = way.nic_from || way.nic_to;
    if (way.mechanism == Mechanism::HostDma) way.access = request_.access;
    if (to_memory && (from == End::Memory || to == End::Memory)) way.pageable = request_.pageable;
    if (over_network) way.queue_pairs = request_.queue_pairs;
    if (from == End::Memory && to == End::Memory && way.mechanism == Mechanism::Local) way.cores = request_.cores;
  }

  void add(Way const& way) { ways_.push_back(way); }
  // One way through the memory near each of the two places.
  void add_staged(Mechanism mechanism, NumaId one, NumaId other) {
    add({.mechanism = mechanism, .staging = one});
    if (one != other) add({.mechanism = mechanism, .staging = other});
  }

  void between_gpus() {
    auto const from = std::get<PciId>(request_.from);
    auto const to = std::get<PciId>(request_.to);
    if (from == to) return add({.mechanism = Mechanism::Local});
    bool const pull_first = request_.drive ? *request_.drive == Drive::Pull : request_.op == Op::Read;
    add({.mechanism = Mechanism::Nvlink, .drive = pull_first ? Drive::Pull : Drive::Push});
    add({.mechanism = Mechanism::PcieP2p, .drive = pull_first ? Drive::Pull : Drive::Push});
    if (request_.op != Op::Write && !request_.drive)
      add({.mechanism = Mechanism::PcieP2p, .drive = pull_first ? Drive::Push : Drive::Pull});
    add_relays(from, to);
    auto const near_source = machine_.numa_of(from);
    auto const near_target = machine_.numa_of(to);
    add_staged(Mechanism::HostStaged, near_source, near_target);
    add_staged(Mechanism::SharedHost, near_source, near_target);
    if (request_.op == Op::Copy)
      add({.mechanism = Mechanism::BarCopy, .staging = near_source});  // a CPU copies, so not for stores by a GPU
  }

  // NVSwitch joins every pair directly, so only GPUs on bundles need a relay.
  void add_relays(PciId from, PciId to) {
    bool any = false;
    if (!on_nvswitch(machine_, from)) {
      for (auto const& bundle : bundles_of(machine_, machine_.host_of(from))) {
        auto const* a = std::get_if<PciId>(&bundle.a);
        auto const* b = std::get_if<PciId>(&bundle.b);
        if (a == nullptr || b == nullptr || (*a != from && *b != from)) continue;
        auto const middle = *a == from ? *b : *a;
        if (middle == to || !has_nvlink(machine_, middle, to)) continue;
        add({.mechanism = Mechanism::NvlinkRelay, .relay = middle});
        any = true;
      }
    }
    if (!any) add({.mechanism = Mechanism::NvlinkRelay});
  }

  void gpu_and_memory() {
    add({.mechanism = Mechanism::Nvlink});
    add({.mechanism = Mechanism::HostDma});
    if (migrates(request_.op)) return;  // the driver moves pages with its own engines
    add({.mechanism = Mechanism::BarCopy,
         .staging = std::holds_alternative<NumaId>(request_.from) ? std::get<NumaId>(request_.from)
                                                                  : std::get<NumaId>(request_.to)});
  }

  void with_drive(End from, End to) {
    if (from == to) return;  // no mechanism moves data from drive to drive
    if (from == End::Memory || to == End::Memory) return add({.mechanism = Mechanism::HostDma});
    add({.mechanism = Mechanism::StorageDirect});
    add_staged(Mechanism::StorageStaged, nearest_numa(machine_, request_.from), nearest_numa(machine_, request_.to));
  }

  void to_or_from_nic(End from, End to) {
    if (from == End::Nic && to == End::Nic) return;
    if (from == End::Drive || to == End::Drive) return;
    auto const nic = std::get<PciId>(to == End::Nic ? request_.to : request_.from);
    for (auto const carrier : carriers(nic, nic)) over_nic(nic, carrier, to == End::Nic);
  }

  void over_nic(PciId nic, Carrier carrier, bool outward) {
    auto const& memory = outward ? request_.from : request_.to;
    Way way;
    way.carrier = carrier;
    (outward ? way.nic_from : way.nic_to) = nic;
    if (kind_of(machine_, memory) == End::Memory) {
      if (request_.access.each > Bytes(0))
        return add({.mechanism = Mechanism::HostDma});  // device DMA, not the network
      way.mechanism = Mechanism::Rdma;
      return add(way);
    }
    auto const gpu = std::get<PciId>(memory);
    way.mechanism = Mechanism::Gdr;
    add(way);
    way.mechanism = Mechanism::GdrRelay;
    (outward ? way.relay : way.relay_to) = nics_.relay_for(gpu, nic);
    add(way);
    (outward ? way.relay : way.relay_to).reset();
    for (auto const mechanism : {Mechanism::NetStaged, Mechanism::SharedHost}) {
      way.mechanism = mechanism;
      for (auto const numa : {machine_.numa_of(nic), machine_.numa_of(gpu)}) {
        if (numa == way.staging) continue;
        way.staging = numa;
        add(way);
      }
      way.staging.reset();
    }
  }

  void across_nodes(End from, End to) {
    if (from == End::Nic || to == End::Nic) return;
    if (from == End::Drive || to == End::Drive) return with_remote_drive(from, to);
    if (from == End::Gpu && to == End::Gpu) over_domain();
    auto const pairs = nic_pairs();
    bool const with_gpu = from == End::Gpu || to == End::Gpu;
    auto const direct = with_gpu ? Mechanism::Gdr : Mechanism::Rdma;
    if (!pairs) return add({.mechanism = direct});
    for (auto const& [nic_from, nic_to] : *pairs)
      for (auto const carrier : carriers(nic_from, nic_to))
        over_network({.mechanism = direct, .nic_from = nic_from, .nic_to = nic_to, .carrier = carrier}, from, to);
  }

  void over_network(Way way, End from, End to) {
    add(way);
    if (from != End::Gpu && to != End::Gpu) return;
    add_relay_over(way, from, to);
    way.staging = machine_.numa_of(*way.nic_from);
    way.staging_to = machine_.numa_of(*way.nic_to);
    for (auto const mechanism : {Mechanism::NetStaged, Mechanism::SharedHost}) {
      way.mechanism = mechanism;
      add(way);
    }
  }

  // By verbs, unless the nodes' software says MPI; where an adapter does no verbs, by MPI as well.
  [[nodiscard]] std::vector<Carrier> carriers(PciId nic_from, PciId nic_to) const {
    std::vector<Carrier> carriers{Carrier::Verbs};
    for (auto const nic : {nic_from, nic_to}) {
      auto const* part = machine_.part_of(nic);
      if (part != nullptr && !part->nic.rdma) carriers = {Carrier::Verbs, Carrier::Mpi};
    }
    if (carriers.size() > 1) return carriers;
    if (request_.carrier) return {*request_.carrier};
    for (auto const nic : {nic_from, nic_to})
      if (machine_.at(machine_.host_of(nic)).software.mpi_messages) return {Carrier::Mpi};
    return carriers;
  }

  [[nodiscard]] std::optional<std::vector<std::pair<PciId, PciId>>> nic_pairs() const {
    if (!request_.nics) return nics_.nic_pairs(request_.from, request_.to);
    std::vector<std::pair<PciId, PciId>> pairs;
    if (are_joined(machine_, request_.nics->first, request_.nics->second)) pairs.push_back(*request_.nics);
    return pairs;
  }

  // NVMe over Fabrics: the node of the drive moves the data between it and host memory, and its NIC between that and
  // the other node's GPU or memory.
  void with_remote_drive(End from, End to) {
    auto const& drive = from == End::Drive ? request_.from : request_.to;
    bool const is_nvme = machine_.at(std::get<PciId>(drive)).kind == PciKind::Nvme;
    if (from == to || !is_nvme || request_.op != Op::Copy) return;
    bool const with_gpu = from == End::Gpu || to == End::Gpu;
    auto const direct = with_gpu ? Mechanism::StorageDirect : Mechanism::Rdma;
    auto const pairs = nic_pairs();
    if (!pairs) return add({.mechanism = direct});
    for (auto const& [nic_from, nic_to] : *pairs) {
      Way way{.mechanism = direct, .nic_from = nic_from, .nic_to = nic_to};
      if (from == End::Drive)
        way.staging = machine_.numa_of(nic_from);
      else
        way.staging_to = machine_.numa_of(nic_to);
      add(way);
      if (!with_gpu) continue;
      way.mechanism = Mechanism::StorageStaged;
      way.staging = machine_.numa_of(nic_from);
      way.staging_to = machine_.numa_of(nic_to);
      add(way);
    }
  }

  // NVLink that joins GPUs of several nodes. A message goes to a queue pair.
  void over_domain() {
    auto const from = std::get<PciId>(request_.from);
    if (request_.op == Op::Send || !has_nvlink(machine_, from, std::get<PciId>(request_.to))) return;
    bool const pull = request_.drive ? *request_.drive == Drive::Pull : request_.op == Op::Read;
    add({.mechanism = Mechanism::Nvlink, .drive = pull ? Drive::Pull : Drive::Push});
  }

  void add_relay_over(Way way, End from, End to) {
    way.mechanism = Mechanism::GdrRelay;
    if (from == End::Gpu) way.relay = nics_.relay_for(std::get<PciId>(request_.from), *way.nic_from);
    if (to == End::Gpu) way.relay_to = nics_.relay_for(std::get<PciId>(request_.to), *way.nic_to);
    if (way.relay || way.relay_to) add(way);
  }

  Machine const& machine_;
  Request const& request_;
  NicSelection nics_;
  std::vector<Way> ways_;
};

}  // namespace

std::vector<Way> possible_ways(Machine const& machine, Request const& request) {
  return WayEnumerator(machine, request).list();
}

}  // namespace lanewise
