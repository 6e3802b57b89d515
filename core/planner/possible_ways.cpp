// Which ways a transfer could go at all: mechanisms by the kinds of the two places, with their NICs, relays and
// staging memories.
#include <algorithm>

#include "core/machine/path_class.hpp"
#include "core/planner/planner.hpp"
#include "core/rules/conditions.hpp"

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

NumaId numa_near(Machine const& machine, Place const& place) {
  auto const* id = std::get_if<PciId>(&place);
  return id != nullptr ? machine.numa_of(*id) : std::get<NumaId>(place);
}

class Ways {
 public:
  Ways(Machine const& machine, Request const& request) : machine_(machine), request_(request) {}

  std::vector<Way> list() {
    ways_.reserve(16);
    auto const from = kind_of(machine_, request_.from);
    auto const to = kind_of(machine_, request_.to);
    auto const holds_pages = [](End end) { return end == End::Gpu || end == End::Memory; };
    bool const one_node = machine_.host_of(request_.from) == machine_.host_of(request_.to);
    if (migrates(request_.op) &&
        (!one_node || !holds_pages(from) || !holds_pages(to) || (from == End::Memory && to == End::Memory)))
      return {};                                         // Unified Memory is of GPUs and host memory of one node
    if (request_.op == Op::Send && one_node) return {};  // a message is for another node's queue pair
    if (!one_node)
      across_nodes(from, to);
    else if (from == End::Gpu && to == End::Gpu)
      between_gpus();
    else if (from == End::Nic || to == End::Nic)
      to_the_wire(from, to);
    else if (from == End::Drive || to == End::Drive)
      with_drive(from, to);
    else if (from == End::Memory && to == End::Memory)
      add({.mechanism = Mechanism::Local});
    else
      gpu_and_memory();
    for (auto& way : ways_) {
      way.by_driver = request_.by_driver && way.mechanism == Mechanism::HostStaged;
      bool const to_memory = way.mechanism == Mechanism::HostDma || way.mechanism == Mechanism::Nvlink;
      bool const over_network = way.nic_from || way.nic_to;
      if (way.mechanism == Mechanism::HostDma) way.access = request_.access;
      if (to_memory && (from == End::Memory || to == End::Memory)) way.pageable = request_.pageable;
      if (over_network) way.queue_pairs = request_.queue_pairs;
      if (from == End::Memory && to == End::Memory && way.mechanism == Mechanism::Local) way.cores = request_.cores;
    }
    if (request_.only) std::erase_if(ways_, [&](Way const& way) { return way.mechanism != *request_.only; });
    return std::move(ways_);
  }

 private:
  void add(Way const& way) { ways_.push_back(way); }
  // Once for the memory near each of the two places.
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
      add({.mechanism = Mechanism::BarCopy, .staging = near_source});  // a GPU's store is no CPU copy
  }

  // Through NVSwitch every pair is direct already, so only bundles make a relay worth weighing.
  void add_relays(PciId from, PciId to) {
    bool any = false;
    if (!on_nvswitch(machine_, from)) {
      for (auto const& bundle : machine_.nvlinks) {
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
    if (migrates(request_.op)) return;  // the driver's own engines move pages
    add({.mechanism = Mechanism::BarCopy,
         .staging = std::holds_alternative<NumaId>(request_.from) ? std::get<NumaId>(request_.from)
                                                                  : std::get<NumaId>(request_.to)});
  }

  void with_drive(End from, End to) {
    if (from == to) return;  // nothing moves data from drive to drive by itself
    if (from == End::Memory || to == End::Memory) return add({.mechanism = Mechanism::HostDma});
    add({.mechanism = Mechanism::StorageDirect});
    add_staged(Mechanism::StorageStaged, numa_near(machine_, request_.from), numa_near(machine_, request_.to));
  }

  // ---------------------------------------------------------------------------------------------------------- network

  void to_the_wire(End from, End to) {
    if (from == End::Nic && to == End::Nic) return;
    if (from == End::Drive || to == End::Drive) return;
    bool const outward = to == End::Nic;
    auto const nic = std::get<PciId>(outward ? request_.to : request_.from);
    auto const& memory = outward ? request_.from : request_.to;
    Way way;
    (outward ? way.nic_from : way.nic_to) = nic;
    if (kind_of(machine_, memory) == End::Memory) {
      if (request_.access.each > Bytes(0))
        return add({.mechanism = Mechanism::HostDma});  // the device's DMA, not its wire
      way.mechanism = Mechanism::Rdma;
      return add(way);
    }
    auto const gpu = std::get<PciId>(memory);
    way.mechanism = Mechanism::Gdr;
    add(way);
    way.mechanism = Mechanism::GdrRelay;
    (outward ? way.relay : way.relay_to) = neighbour_of(gpu, nic);
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

  // The GPU with NVLink to this one that is nearest to a NIC, when nearer than this one.
  std::optional<PciId> neighbour_of(PciId gpu, PciId nic) const {
    std::optional<PciId> best;
    auto nearest = path_class(machine_, gpu, nic);
    auto const weigh = [&](PciId other) {
      if (other == gpu) return;
      auto const distance = path_class(machine_, other, nic);
      if (distance >= nearest || !has_nvlink(machine_, gpu, other)) return;
      nearest = distance;
      best = other;
    };
    for (auto const& domain : machine_.nvswitches)
      if (domain.host == machine_.host_of(gpu))
        for (auto const& port : domain.ports) weigh(port.gpu);
    for (auto const& bundle : machine_.nvlinks)
      for (auto const& end : {bundle.a, bundle.b})
        if (auto const* other = std::get_if<PciId>(&end);
            other != nullptr && machine_.host_of(*other) == machine_.host_of(gpu))
          weigh(*other);
    return best;
  }

  struct Rail {
    PciId nic{};
    PathClass distance{};
    std::optional<int> rail;
  };
  // The NICs of a place's node that are on the fabric, nearest first. Of GPUs with the same NICs nearest, each has
  // another of these in front, so that together they use all: as the k-th GPU of a switch has its k-th NIC.
  std::vector<Rail> rails_of(Place const& place) const {
    std::vector<Rail> rails;
    if (!machine_.fabric) return rails;
    auto const host = machine_.host_of(place);
    auto const& all = machine_.fabric->attachments;
    auto const first = std::lower_bound(all.begin(), all.end(), host, [&](auto const& attachment, HostId wanted) {
      return machine_.host_of(attachment.nic) < wanted;
    });
    for (auto it = first; it != all.end() && machine_.host_of(it->nic) == host; ++it) {
      auto const& attachment = *it;
      auto const* id = std::get_if<PciId>(&place);
      auto const distance = id != nullptr ? path_class(machine_, *id, attachment.nic)
                                          : path_class(machine_, attachment.nic, std::get<NumaId>(place));
      rails.push_back({attachment.nic, distance, machine_.at(attachment.nic).rail});
    }
    std::stable_sort(rails.begin(), rails.end(), [](Rail const& a, Rail const& b) { return a.distance < b.distance; });
    auto const* id = std::get_if<PciId>(&place);
    if (id == nullptr || rails.empty()) return rails;
    auto const further = std::find_if(rails.begin(), rails.end(),
                                      [&](Rail const& rail) { return rail.distance != rails.front().distance; });
    if (auto const alike = further - rails.begin(); alike > 1)
      std::rotate(rails.begin(), rails.begin() + gpus_before(*id, rails.front(), rails) % alike, further);
    return rails;
  }
  // The GPUs of a node that stand before this one and have a NIC as one of their nearest at the same distance.
  [[nodiscard]] std::ptrdiff_t gpus_before(PciId gpu, Rail const& nic, std::vector<Rail> const& nics) const {
    std::ptrdiff_t count = 0;
    for (auto at = index(gpu); at-- > 0 && machine_.host_of(PciId(at)) == machine_.host_of(gpu);) {
      auto const other = PciId(at);
      if (machine_.at(other).kind != PciKind::Gpu || path_class(machine_, other, nic.nic) != nic.distance) continue;
      // Below one switch there is nothing nearer.
      if (nic.distance <= PathClass::Pxb || !has_nearer(other, nic, nics)) ++count;
    }
    return count;
  }
  [[nodiscard]] bool has_nearer(PciId gpu, Rail const& than, std::vector<Rail> const& nics) const {
    return std::any_of(nics.begin(), nics.end(),
                       [&](Rail const& nic) { return path_class(machine_, gpu, nic.nic) < than.distance; });
  }
  static Rail const* same_rail(std::vector<Rail> const& rails, Rail const& as) {
    for (auto const& rail : rails)
      if (rail.rail == as.rail) return &rail;
    return nullptr;
  }

  // A cable joins two ports, those of one rail; behind switches every NIC reaches every other.
  [[nodiscard]] bool joined(Rail const& a, Rail const& b) const {
    return machine_.fabric->kind != "direct" || a.rail == b.rail;
  }

  // The nearest NIC of each side with the NIC of its rail on the other, and the two nearest ones.
  std::vector<std::pair<Rail, Rail>> nic_pairs(std::vector<Rail> const& from, std::vector<Rail> const& to) const {
    std::vector<std::pair<Rail, Rail>> pairs;
    auto const propose = [&](Rail const* a, Rail const* b) {
      if (a == nullptr || b == nullptr || !joined(*a, *b)) return;
      for (auto const& [x, y] : pairs)
        if (x.nic == a->nic && y.nic == b->nic) return;
      pairs.emplace_back(*a, *b);
    };
    for (auto const& a : from) {
      if (a.distance != from.front().distance) break;
      auto const* b = same_rail(to, a);
      if (b != nullptr && b->distance == to.front().distance) propose(&a, b);
    }
    propose(&from.front(), same_rail(to, from.front()));
    propose(same_rail(from, to.front()), &to.front());
    propose(&from.front(), &to.front());
    constexpr std::size_t kMaxPairs = 4;
    if (pairs.size() > kMaxPairs) pairs.resize(kMaxPairs);
    return pairs;
  }

  void across_nodes(End from, End to) {
    if (from == End::Drive || to == End::Drive || from == End::Nic || to == End::Nic) return;
    auto const near_from = rails_of(request_.from);
    auto const near_to = rails_of(request_.to);
    bool const with_gpu = from == End::Gpu || to == End::Gpu;
    if (near_from.empty() || near_to.empty()) return add({.mechanism = with_gpu ? Mechanism::Gdr : Mechanism::Rdma});
    for (auto const& [a, b] : nic_pairs(near_from, near_to)) {
      Way way;
      way.nic_from = a.nic;
      way.nic_to = b.nic;
      way.mechanism = with_gpu ? Mechanism::Gdr : Mechanism::Rdma;
      add(way);
      if (!with_gpu) continue;
      add_relay_over(way, from, to);
      way.staging = machine_.numa_of(a.nic);
      way.staging_to = machine_.numa_of(b.nic);
      for (auto const mechanism : {Mechanism::NetStaged, Mechanism::SharedHost}) {
        way.mechanism = mechanism;
        add(way);
      }
    }
  }

  void add_relay_over(Way way, End from, End to) {
    way.mechanism = Mechanism::GdrRelay;
    if (from == End::Gpu) way.relay = neighbour_of(std::get<PciId>(request_.from), *way.nic_from);
    if (to == End::Gpu) way.relay_to = neighbour_of(std::get<PciId>(request_.to), *way.nic_to);
    if (way.relay || way.relay_to) add(way);
  }

  Machine const& machine_;
  Request const& request_;
  std::vector<Way> ways_;
};

}  // namespace

std::vector<Way> possible_ways(Machine const& machine, Request const& request) { return Ways(machine, request).list(); }

}  // namespace lanewise
