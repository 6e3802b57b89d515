#include "core/planner/libraries/nccl/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "core/machine/nic_rate.hpp"
#include "core/machine/nvlink_domains.hpp"
#include "core/machine/path_class.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::nccl {
namespace {

constexpr double kLocalRate = 5000;  // topo.h: LOC_BW
constexpr double kNoRate = 1e-3;     // between devices of two hosts of one NVLink domain

// topo.h: what a PCIe lane carries by generation, times 80.
double pci_rate(PcieLink const& link) {
  constexpr std::array<double, 7> kLane{0, 15, 30, 60, 120, 240, 480};
  return link.width * kLane.at(static_cast<std::size_t>(std::clamp(link.generation, 1, 6))) / 80;
}

// topo.h: of one NVLink, by compute capability.
double nvlink_rate_of(int capability, Library const& library) {
  if (capability >= 100) return library.minor >= 27 ? 40.1 : 40.0;
  if (capability >= 90) return library.minor >= 20 ? 20.6 : 20.0;
  if (capability == 86) return 12;
  if (capability == 60) return 18;
  return 20;
}

CpuVendor vendor_of(Part const* part) {
  if (part == nullptr) return CpuVendor::Unknown;
  auto const& vendor = part->cpu.vendor;
  if (vendor == "intel") return CpuVendor::Intel;
  if (vendor == "amd") return CpuVendor::Amd;
  if (vendor == "arm" || vendor == "nvidia") return CpuVendor::Arm;
  if (vendor == "ibm") return CpuVendor::Power;
  return CpuVendor::Unknown;
}

// CPUID's model of family 6; of products without one in the catalogue, that of their generation.
int intel_model(Part const& part) {
  for (auto const& id : part.cpu.cpuid)
    if (auto const at = id.rfind('/'); at != std::string::npos) {
      int model = 0;
      std::from_chars(id.data() + at + 1, id.data() + id.size(), model);
      return model;
    }
  constexpr std::array<std::pair<std::string_view, int>, 5> kNamed{
      {{"8558", 0xCF}, {"8480", 0x8F}, {"8380", 0x6A}, {"xeon-platinum-8", 0x55}, {"xeon-e5", 0x4F}}};
  for (auto const& [name, model] : kNamed)
    if (part.name.find(name) != std::string::npos) return model;
  return part.cpu.root_port_generation.value_or(4) >= 5 ? 0x8F : 0x55;
}

}  // namespace

double counted_between_sockets(Part const* part, Library const& library) {
  switch (vendor_of(part)) {
    case CpuVendor::Intel: {
      auto const model = intel_model(*part);
      if (library.minor >= 26 && model >= 0xCF) return 40;
      if (library.minor >= 26 && model >= 0x8F) return 22;
      return model >= 0x55 ? 10 : 6;
    }
    case CpuVendor::Amd: return library.minor >= 19 ? 16 : 6;
    case CpuVendor::Arm: return 6;
    case CpuVendor::Power: return 32;
    case CpuVendor::Unknown: return kLocalRate;
  }
  return kLocalRate;
}

namespace {

// init.cc and paths.cc: how near two GPUs must be for P2P.
PathType peer_level(Topology const& topology, std::size_t gpus, Library const& library,
                    Environment const& environment) {
  if (number_in(environment, "NCCL_P2P_DISABLE").value_or(0) == 1) return PathType::Local;
  if (auto const found = environment.find("NCCL_P2P_LEVEL"); found != environment.end()) {
    for (auto const type : {PathType::Local, PathType::Nvl, PathType::Pix, PathType::Pxb, PathType::Phb, PathType::Sys})
      if (found->second == to_string(type)) return type;
    constexpr std::array<PathType, 6> kNumbered{PathType::Local, PathType::Pix, PathType::Pxb,
                                                PathType::Phb,   PathType::Phb, PathType::Sys};
    if (auto const number = number_in(environment, "NCCL_P2P_LEVEL"))
      return kNumbered.at(static_cast<std::size_t>(std::clamp(*number, 0, 5)));
  }
  auto const vendor = topology.vendor();
  bool const is_far_allowed = library.minor >= 23 ? vendor == CpuVendor::Amd && gpus <= 2
                                                  : vendor == CpuVendor::Amd || vendor == CpuVendor::Power;
  return is_far_allowed ? PathType::Sys : PathType::Pxb;
}

}  // namespace

std::string_view to_string(PathType type) {
  constexpr std::array<std::string_view, 12> kNames{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                                    "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};
  return kNames.at(static_cast<std::size_t>(type));
}

std::string_view to_string(Transport transport) {
  constexpr std::array<std::string_view, 3> kNames{"P2P", "SHM", "NET"};
  return kNames.at(static_cast<std::size_t>(transport));
}

// Makes the links, then the paths over them.
class Topology::Builder {
 public:
  Builder(Topology& topology, Library const& library, Environment const& environment,
          std::optional<double> between_sockets)
      : topology_(topology),
        machine_(topology.machine_),
        library_(library),
        environment_(environment),
        between_sockets_(between_sockets) {}

  void build() {
    describe_gpus();
    add_nvlinks();
    for (std::size_t a = 0; a < gpus().size(); ++a)
      for (std::size_t b = 0; b < gpus().size(); ++b) topology_.pairs_.push_back(best_between(a, b));
    choose_transports();
    for (auto const gpu : gpus())
      for (auto const nic : topology_.nics_) {
        topology_.to_nics_.push_back(over_pci(gpu, nic));
        extend(topology_.to_nics_.back(), wire_of(nic));
        topology_.from_nics_.push_back(over_pci(nic, gpu));
        extend(topology_.from_nics_.back(), wire_of(nic) + 1);
      }
    for (std::size_t g = 0; g < gpus().size(); ++g) topology_.nearest_nics_.push_back(topology_.find_nearest_nics(g));
    std::map<std::vector<std::size_t>, std::size_t> sharing;
    for (auto const& nearest : topology_.nearest_nics_) ++sharing[nearest];
    for (auto const& nearest : topology_.nearest_nics_) topology_.sharing_.push_back(sharing[nearest]);
    add_relays_to_nics();
    find_rates();
  }

 private:
  [[nodiscard]] std::vector<PciId> const& gpus() const { return topology_.gpus_; }

  void describe_gpus() {
    topology_.vendor_ = vendor_of(machine_.part_of(machine_.socket_of(gpus().front())));
    topology_.min_capability_ = 1000;
    for (auto const gpu : gpus()) {
      auto const* part = machine_.part_of(gpu);
      auto const capability =
          part != nullptr ? static_cast<int>(std::lround(compute_capability(*part).value_or(0) * 10)) : 0;
      if (capability == 0)
        throw PlanError(fmt::format("NCCL runs on NVIDIA GPUs; '{}' is {}", machine_.at(gpu).name,
                                    part != nullptr ? part->title : "unknown"));
      topology_.min_capability_ = std::min(topology_.min_capability_, capability);
      topology_.max_capability_ = std::max(topology_.max_capability_, capability);
      own_capability_.push_back(capability);
    }
  }

  // One link, of which the second direction is the next number.
  std::uint32_t add_link(double rate, bool pci) {
    for (int direction = 0; direction < 2; ++direction) {
      topology_.capacities_.push_back(rate);
      topology_.pci_.push_back(pci);
    }
    return static_cast<std::uint32_t>(topology_.capacities_.size() - 2);
  }

  void add_nvlinks() {
    for (auto const& domain : machine_.nvswitches) {
      auto& of_domain = switch_links_.emplace_back();
      for (std::size_t g = 0; g < gpus().size(); ++g) {
        auto const links = links_of(machine_, domain, gpus()[g]);
        auto const rate = links * nvlink_rate_of(own_capability_[g], library_);
        of_domain.push_back(links > 0 ? std::optional(add_link(rate, false)) : std::nullopt);
        if (links == 0) continue;
        topology_.has_nvswitch_ = true;
        topology_.nvlink_rate_ = std::max(topology_.nvlink_rate_, rate);
      }
    }
    for (auto const& bundle : machine_.nvlinks) {
      auto const a = position_of(bundle.a);
      auto const b = position_of(bundle.b);
      if (!a || !b) continue;
      auto const rate = bundle.count * nvlink_rate_of(std::min(own_capability_[*a], own_capability_[*b]), library_);
      bundles_[{*a, *b}] = add_link(rate, false);
      topology_.nvlink_rate_ = std::max(topology_.nvlink_rate_, rate);
    }
  }

  [[nodiscard]] std::optional<std::size_t> position_of(NvlinkEnd const& end) const {
    auto const* gpu = std::get_if<PciId>(&end);
    if (gpu == nullptr) return std::nullopt;
    auto const found = std::find(gpus().begin(), gpus().end(), *gpu);
    return found != gpus().end() ? std::optional<std::size_t>(found - gpus().begin()) : std::nullopt;
  }

  void extend(Path& path, std::uint32_t link) const {
    path.links.push_back(link);
    path.rate = std::min(path.rate, topology_.capacities_[link]);
  }

  [[nodiscard]] std::optional<Path> over_nvlink(std::size_t a, std::size_t b) const {
    Path path{PathType::Nvl, kLocalRate, {}, {}};
    for (auto const& of_domain : switch_links_)
      if (of_domain[a] && of_domain[b]) {
        extend(path, *of_domain[a]);
        extend(path, *of_domain[b] + 1);
        return path;
      }
    auto const forward = bundles_.find({a, b});
    auto const back = bundles_.find({b, a});
    if (forward == bundles_.end() && back == bundles_.end()) return std::nullopt;
    extend(path, forward != bundles_.end() ? forward->second : back->second + 1);
    return path;
  }

  [[nodiscard]] std::optional<Path> over_relay(std::size_t a, std::size_t b) const {
    if (number_in(environment_, "NCCL_NVB_DISABLE").value_or(0) == 1) return std::nullopt;
    std::optional<Path> best;
    for (std::size_t relay = 0; relay < gpus().size(); ++relay) {
      if (relay == a || relay == b) continue;
      auto const first = over_nvlink(a, relay);
      auto const second = first ? over_nvlink(relay, b) : std::nullopt;
      if (!second) continue;
      Path path{PathType::Nvb, std::min(first->rate, second->rate), first->links, relay};
      path.links.insert(path.links.end(), second->links.begin(), second->links.end());
      if (!best || path.rate > best->rate) best = path;
    }
    return best;
  }

  [[nodiscard]] Path best_between(std::size_t a, std::size_t b) {
    if (a == b) return {PathType::Local, kLocalRate, {}, {}};
    if (auto path = over_nvlink(a, b)) return *path;
    auto const pci = over_pci(gpus()[a], gpus()[b]);
    if (auto path = over_relay(a, b); path && path->type < pci.type) return *path;
    return pci;
  }

  // The link above a device; root ports are no nodes of NCCL's.
  std::uint32_t link_above(PciId device) {
    auto const [found, is_new] = pci_links_.try_emplace(device, 0);
    if (is_new) {
      auto const& function = machine_.at(device);
      auto const link = function.link ? function.link : assumed_link(machine_, device);
      auto const* c2c = c2c_of(device);
      found->second = c2c != nullptr && c2c->link.rate ? add_link(c2c->link.rate->value() * 1e-9, false)
                                                       : add_link(link ? pci_rate(*link) : pci_rate({3, 16}), true);
    }
    return found->second;
  }

  // The link of a GPU to its CPU that is no PCIe; nullptr: it has none.
  [[nodiscard]] Part const* c2c_of(PciId gpu) const {
    for (auto const& bundle : machine_.nvlinks) {
      bool const is_its = bundle.a == NvlinkEnd(gpu) && std::holds_alternative<SocketId>(bundle.b);
      if (is_its && machine_.at(bundle.part).link.family == LinkFamily::C2c) return &machine_.at(bundle.part);
    }
    return nullptr;
  }

  // From a NIC to the network: its port.
  std::uint32_t wire_of(PciId nic) {
    auto const [found, is_new] = wires_.try_emplace(nic, 0);
    if (is_new) {
      auto const rate = nic_rate(machine_, nic);
      found->second = add_link(rate ? rate->value() * 1e-9 : 1.25, false);
    }
    return found->second;
  }

  // The switches above a device, nearest first.
  [[nodiscard]] std::vector<PciId> switches_above(PciId device) const {
    std::vector<PciId> switches;
    for (auto up = machine_.at(device).parent; up; up = machine_.at(*up).parent)
      if (machine_.at(*up).kind == PciKind::Switch) switches.push_back(*up);
    return switches;
  }

  std::uint32_t link_between(NumaId a, NumaId b) {
    auto const [found, is_new] = numa_links_.try_emplace(std::minmax(a, b), 0);
    if (is_new)
      found->second = add_link(
          between_sockets_.value_or(counted_between_sockets(machine_.part_of(machine_.at(a).socket), library_)), false);
    return a < b ? found->second : found->second + 1;
  }

  // Through switches where one joins the two, else through the CPUs.
  Path over_pci(PciId from, PciId to, bool through_cpu = false) {
    if (machine_.host_of(from) != machine_.host_of(to)) return {PathType::Disconnected, kNoRate, {}, {}};
    Path path{PathType::Pix, kLocalRate, {}, {}};
    auto const above_from = switches_above(from);
    auto const above_to = switches_above(to);
    auto const meet = through_cpu ? std::nullopt : common_switch(machine_, from, to);
    auto const below = [&](std::vector<PciId> const& switches) {
      return std::vector<PciId>(switches.begin(),
                                meet ? std::find(switches.begin(), switches.end(), *meet) : switches.end());
    };
    auto const up = below(above_from);
    auto const down = below(above_to);
    extend(path, link_above(from));
    for (auto const one : up) extend(path, link_above(one));
    if (!meet) {
      auto const a = machine_.numa_of(from);
      auto const b = machine_.numa_of(to);
      bool const by_c2c = c2c_of(from) != nullptr || c2c_of(to) != nullptr;
      path.type = a != b ? PathType::Sys : by_c2c ? PathType::P2c : PathType::Phb;
      if (a != b) extend(path, link_between(a, b));
    } else if (up.size() + down.size() > 0) {
      path.type = PathType::Pxb;
    }
    for (auto one = down.rbegin(); one != down.rend(); ++one) extend(path, link_above(*one) + 1);
    extend(path, link_above(to) + 1);
    return path;
  }

  // Whether the driver offers peer access between the two at all: NVML's P2P status.
  [[nodiscard]] bool driver_allows(std::size_t a, std::size_t b) const {
    auto const& software = machine_.at(machine_.host_of(gpus()[a])).software;
    auto const allows = [&](PciId gpu) {
      auto const* part = machine_.part_of(gpu);
      return part == nullptr || part->gpu.pcie_peer || software.geforce_peer;
    };
    return allows(gpus()[a]) && allows(gpus()[b]) && !unapproved_guest(machine_, gpus()[a], gpus()[b]);
  }

  void choose_transports() {
    auto const level = peer_level(topology_, gpus().size(), library_, environment_);
    bool const shm = number_in(environment_, "NCCL_SHM_DISABLE").value_or(0) != 1;
    for (std::size_t a = 0; a < gpus().size(); ++a)
      for (std::size_t b = 0; b < gpus().size(); ++b) {
        auto& path = topology_.pairs_[a * gpus().size() + b];
        bool const by_nvlink = path.type == PathType::Nvl || path.type == PathType::Nvb;
        bool const is_peer = path.type <= level && (by_nvlink || driver_allows(a, b));
        topology_.transports_.push_back(is_peer || a == b ? Transport::PeerToPeer
                                        : shm             ? Transport::SharedMemory
                                                          : Transport::Network);
        if (is_peer || a == b) continue;
        path = over_pci(gpus()[a], gpus()[b], true);
        path.type = std::max(path.type, PathType::Phb);
      }
  }

  // PXN: through a GPU by the NIC, in the direction of sending.
  void add_relays_to_nics() {
    if (number_in(environment_, "NCCL_PXN_DISABLE").value_or(0) == 1) return;
    auto const n = topology_.nics_.size();
    auto const own = topology_.to_nics_;
    for (std::size_t g = 0; g < gpus().size(); ++g)
      for (std::size_t k = 0; k < n; ++k) {
        auto& path = topology_.to_nics_[g * n + k];
        for (std::size_t relay = 0; relay < gpus().size(); ++relay) {
          auto const& first = topology_.between(g, relay);
          auto const& second = own[relay * n + k];
          if (relay == g || first.type != PathType::Nvl || second.type > PathType::P2c) continue;
          auto const rate = std::min(first.rate, second.rate);
          // Of relays that are alike, the one whose own NIC it is.
          bool const owns = path.relay && topology_.own_nic(relay) == k && topology_.own_nic(*path.relay) != k;
          if (path.type <= PathType::Pxn && (path.rate > rate || (path.rate == rate && !owns))) continue;
          Path pxn{PathType::Pxn, rate, first.links, relay};
          pxn.links.insert(pxn.links.end(), second.links.begin(), second.links.end());
          path = std::move(pxn);
        }
      }
  }

  void find_rates() {
    for (auto const nic : topology_.nics_)
      if (auto const* part = machine_.part_of(nic); part != nullptr && part->nic.plugin_latency)
        topology_.plugin_latency_us_ = std::max(topology_.plugin_latency_us_, part->nic.plugin_latency->value() * 1e6);
    for (std::size_t g = 0; g < gpus().size(); ++g) {
      double nvlinks = 0;
      for (auto const& of_domain : switch_links_)
        if (of_domain[g]) nvlinks += topology_.capacities_[*of_domain[g]];
      for (auto const& [ends, link] : bundles_)
        if (ends.first == g || ends.second == g) nvlinks += topology_.capacities_[link];
      topology_.total_rate_ = std::max({topology_.total_rate_, nvlinks, topology_.capacities_[link_above(gpus()[g])]});
      for (std::size_t other = 0; other < gpus().size(); ++other)
        if (other != g) topology_.max_gpu_rate_ = std::max(topology_.max_gpu_rate_, topology_.between(g, other).rate);
      for (std::size_t k = 0; k < topology_.nics_.size(); ++k)
        topology_.max_nic_rate_ = std::max(topology_.max_nic_rate_, topology_.to_nic(g, k).rate);
    }
  }

  Topology& topology_;
  Machine const& machine_;
  Library const& library_;
  Environment const& environment_;
  std::optional<double> between_sockets_;
  std::vector<int> own_capability_;
  std::vector<std::vector<std::optional<std::uint32_t>>> switch_links_;  // by domain and GPU
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> bundles_;
  std::map<PciId, std::uint32_t> pci_links_, wires_;
  std::map<std::pair<NumaId, NumaId>, std::uint32_t> numa_links_;
};

std::vector<PciId> nics_of(Machine const& machine, std::vector<PciId> const& gpus) {
  std::vector<PciId> nics;
  if (!machine.fabric) return nics;
  std::set<HostId> hosts;
  for (auto const gpu : gpus) hosts.insert(machine.host_of(gpu));
  for (auto const& attachment : machine.fabric->attachments) {
    bool const serves = hosts.contains(machine.host_of(attachment.nic)) && !machine.is_off(attachment.nic) &&
                        machine.fabric->switches[attachment.at].network == 0;
    if (serves && std::find(nics.begin(), nics.end(), attachment.nic) == nics.end()) nics.push_back(attachment.nic);
  }
  return nics;
}

Topology::Topology(Machine const& machine, std::vector<PciId> gpus, Library const& library,
                   Environment const& environment, std::optional<double> between_sockets)
    : machine_(machine), gpus_(std::move(gpus)) {
  nics_ = nics_of(machine, gpus_);
  std::map<HostId, std::vector<PciId>> of_host;
  for (auto const gpu : machine.all(PciKind::Gpu)) of_host[machine.host_of(gpu)].push_back(gpu);
  for (auto const gpu : gpus_) {
    auto const& all = of_host.at(machine.host_of(gpu));
    devices_.push_back(static_cast<std::size_t>(std::find(all.begin(), all.end(), gpu) - all.begin()));
  }
  Builder(*this, library, environment, between_sockets).build();
}

std::vector<std::size_t> Topology::find_nearest_nics(std::size_t gpu) const {
  std::vector<std::size_t> best;
  auto const rank = [&](std::size_t nic) {
    auto const& path = from_nic(nic, gpu);
    return std::pair(-path.rate, path.type);
  };
  for (std::size_t nic = 0; nic < nics_.size(); ++nic) {
    if (!best.empty() && rank(nic) > rank(best.front())) continue;
    if (!best.empty() && rank(nic) < rank(best.front())) best.clear();
    best.push_back(nic);
  }
  return best;
}

std::size_t Topology::own_nic(std::size_t gpu, std::size_t channel) const {
  auto const& nearest = nearest_nics_[gpu];
  if (nearest.empty()) return 0;
  auto const of_each = (nearest.size() + sharing_[gpu] - 1) / sharing_[gpu];
  // The number of its device in its host, whichever GPUs take part; its bits in reverse where the NICs are 2, 4, 8.
  auto first = devices_[gpu];
  if (std::has_single_bit(nearest.size())) {
    std::size_t mirrored = 0;
    for (std::size_t bit = 1, other = nearest.size() / 2; bit < nearest.size(); bit *= 2, other /= 2)
      if ((first & bit) != 0) mirrored |= other;
    first = mirrored;
  }
  return nearest[(first + channel % of_each) % nearest.size()];
}

bool Topology::is_faster_by_nics(std::size_t from, std::size_t to) const {
  auto const speed = between(from, to).rate;
  auto const reaches_faster = [&](std::size_t gpu) {
    for (std::size_t nic = 0; nic < nics_.size(); ++nic)
      if (to_nic(gpu, nic).type <= PathType::Pxb && to_nic(gpu, nic).rate > speed) return true;
    return false;
  };
  return from != to && reaches_faster(from) && reaches_faster(to);
}

PathType Topology::farthest_gpus() const {
  auto farthest = PathType::Local;
  for (auto const& path : pairs_) farthest = std::max(farthest, path.type);
  return farthest;
}

}  // namespace lanewise::nccl
