#include "core/rules/rule.hpp"

#include <algorithm>
#include <array>

#include "core/machine/path_class.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

// ---------------------------------------------------------------------------------------------------------- helpers

Settings const& settings_of(Attempt const& a) { return a.machine.at(a.machine.host_of(a.from)).settings; }
Software const& software_of(Attempt const& a) { return a.machine.at(a.machine.host_of(a.from)).software; }

template <class Predicate>
bool any_gpu(Attempt const& a, Predicate predicate) {
  for (auto const& place : {a.from, a.to})
    if (auto const gpu = gpu_at(a.machine, place); gpu && predicate(*gpu)) return true;
  return false;
}
template <class Predicate>
bool any_gpu_part(Attempt const& a, Predicate predicate) {
  return any_gpu(a, [&](PciId gpu) {
    auto const* part = a.machine.part_of(gpu);
    return part != nullptr && predicate(*part);
  });
}
// Both ends as GPUs, in a mechanism between two of them.
std::pair<PciId, PciId> two_gpus(Attempt const& a) { return {std::get<PciId>(a.from), std::get<PciId>(a.to)}; }

template <class Predicate>
bool any_access(Attempt const& a, Predicate predicate) {
  auto const accesses = peer_accesses(a);
  if (accesses.count > 0 &&
      predicate(accesses.first, peer_route(a.machine, accesses.first.initiator, accesses.first.target)))
    return true;
  return accesses.count > 1 &&
         predicate(accesses.second, peer_route(a.machine, accesses.second.initiator, accesses.second.target));
}

template <class Predicate>
bool any_nic(Attempt const& a, Predicate predicate) {
  for (auto const& nic : {a.way.nic_from, a.way.nic_to})
    if (nic && predicate(*nic)) return true;
  return false;
}

bool refused_by_root_complex(Attempt const& a, bool read) {
  return any_access(a, [&](PeerAccess const& access, PeerRoute const& route) {
    return access.read == read && route.through_root_complex(access.read) &&
           !root_complex_forwards(a.machine, access, route);
  });
}

bool crosses_sockets(Attempt const& a) {
  return any_access(a, [](PeerAccess const& access, PeerRoute const& route) {
    return route.through_root_complex(access.read) && !route.same_socket;
  });
}

// GPU memory is mapped for others through p2pdma (dma-buf) rather than by raw address (peermem).
bool by_dma_buf(Attempt const& a) { return software_of(a).dma_buf; }

// ------------------------------------------------------------------------------------------------------- conditions

bool no_gpu_runtime(Attempt const& a) {
  return !software_of(a).cuda && any_gpu(a, [](PciId) { return true; });
}
bool mig_on(Attempt const& a) {
  return any_gpu(a, [&](PciId gpu) { return a.machine.at(gpu).mig; });
}
bool atomic_over_pcie(Attempt const& a) {
  return a.op == Op::Atomic && any_gpu_part(a, [](Part const& part) { return !part.gpu.pcie_atomics; });
}
bool atomic(Attempt const& a) { return a.op == Op::Atomic; }

bool no_nvlink(Attempt const& a) {
  auto const from = gpu_at(a.machine, a.from);
  auto const to = gpu_at(a.machine, a.to);
  if (from && to) return !has_nvlink(a.machine, *from, *to);
  if (from) return !has_nvlink(a.machine, *from, std::get<NumaId>(a.to));
  if (to) return !has_nvlink(a.machine, *to, std::get<NumaId>(a.from));
  return true;
}
bool has_cpu_link(Attempt const& a) {
  return any_gpu(a, [](PciId) { return true; }) && !no_nvlink(a);
}
bool fabric_not_ready(Attempt const& a) {
  return !software_of(a).fabric_manager && any_gpu(a, [&](PciId gpu) { return on_nvswitch(a.machine, gpu); });
}
bool no_common_nvlink_neighbour(Attempt const& a) {
  auto const [from, to] = two_gpus(a);
  return !a.way.relay || !has_nvlink(a.machine, from, *a.way.relay) || !has_nvlink(a.machine, *a.way.relay, to);
}
bool nvlink_takes_peer(Attempt const& a) {
  auto const [from, to] = two_gpus(a);
  return has_nvlink(a.machine, from, to) && !fabric_not_ready(a);
}
bool nvswitch_without_fallback(Attempt const& a) {
  auto const [from, to] = two_gpus(a);
  return on_nvswitch(a.machine, from) && on_nvswitch(a.machine, to);
}
bool product_without_pcie_peer(Attempt const& a) {
  return !software_of(a).geforce_peer && any_gpu_part(a, [](Part const& part) { return !part.gpu.pcie_peer; });
}
bool chips_differ(Attempt const& a) {
  auto const [from, to] = two_gpus(a);
  auto const* one = a.machine.part_of(from);
  auto const* other = a.machine.part_of(to);
  return one != nullptr && other != nullptr && one->gpu.chip != other->gpu.chip;
}
bool guest_not_approved(Attempt const& a) {
  return any_access(a, [&](PeerAccess const& access, PeerRoute const& route) {
    return !route.meeting && unapproved_guest(a.machine, access.initiator, access.target);
  });
}
bool too_many_peers(Attempt const& a) {
  auto const full = [&](PciId gpu, int peers) {
    auto const* part = a.machine.part_of(gpu);
    return part != nullptr && part->gpu.max_peers && peers >= *part->gpu.max_peers;
  };
  auto const [from, to] = two_gpus(a);
  return full(from, a.peers_of_source) || full(to, a.peers_of_target);
}
bool acs_blocks(Attempt const& a) {
  return any_access(a, [](PeerAccess const&, PeerRoute const& route) { return route.blocked; });
}
bool acs_redirects(Attempt const& a) {
  return any_access(a, [](PeerAccess const& access, PeerRoute const& route) {
    return route.redirected(access.read) && !route.acs_unknown(access.read);
  });
}
bool acs_unknown(Attempt const& a) {
  return any_access(a, [](PeerAccess const& access, PeerRoute const& route) { return route.acs_unknown(access.read); });
}
bool raw_address_under_iommu(Attempt const& a) {
  auto const& settings = settings_of(a);
  return translates(settings.iommu) && !settings.virtualization.passthrough;
}
bool cpu_unknown(Attempt const& a) {
  return any_access(a, [&](PeerAccess const& access, PeerRoute const& route) {
    return route.through_root_complex(access.read) && a.machine.part_of(a.machine.socket_of(access.target)) == nullptr;
  });
}
bool sockets_refused(Attempt const& a) {
  return crosses_sockets(a) && (refused_by_root_complex(a, false) || refused_by_root_complex(a, true));
}
bool writes_not_forwarded(Attempt const& a) { return refused_by_root_complex(a, false); }
bool reads_not_forwarded(Attempt const& a) { return refused_by_root_complex(a, true); }
bool larger_than_bar1(Attempt const& a) {
  return any_gpu_part(a, [&](Part const& part) {
    auto const window = bar1_window(part);
    return window && *window > Bytes(0) && a.bytes > *window;
  });
}

bool bar_not_mappable(Attempt const& a) { return !software_of(a).gdrcopy; }
bool no_bar1(Attempt const& a) {
  return any_gpu_part(a, [](Part const& part) {
    auto const window = bar1_window(part);
    return !window || *window == Bytes(0);
  });
}

bool nic_without_verbs(Attempt const& a) {
  return any_nic(a, [&](PciId nic) {
    auto const* part = a.machine.part_of(nic);
    return part == nullptr || !part->nic.rdma;
  });
}
bool nic_without_gpudirect(Attempt const& a) {
  return any_nic(a, [&](PciId nic) {
    auto const* part = a.machine.part_of(nic);
    return part == nullptr || !part->nic.gpudirect;
  });
}
bool gpu_without_rdma(Attempt const& a) {
  return any_gpu_part(a, [](Part const& part) { return !part.gpu.rdma; });
}
// A way between a GPU and a PCIe device that is neither drive nor NIC: a capture card, an accelerator.
bool with_other_device(Attempt const& a) {
  for (auto const& place : {a.from, a.to})
    if (auto const* id = std::get_if<PciId>(&place); id != nullptr && a.machine.at(*id).kind == PciKind::Device)
      return true;
  return false;
}
bool no_registration(Attempt const& a) {
  auto const lacks = [&](Place const& place) {
    auto const& software = a.machine.at(a.machine.host_of(place)).software;
    return gpu_at(a.machine, place) && !software.peermem && !software.dma_buf;
  };
  return lacks(a.from) || lacks(a.to);
}
bool peermem_under_iommu(Attempt const& a) { return !by_dma_buf(a) && raw_address_under_iommu(a); }
bool device_without_registration(Attempt const& a) { return with_other_device(a) && no_registration(a); }
bool device_under_iommu(Attempt const& a) { return with_other_device(a) && peermem_under_iommu(a); }
bool p2pdma_refuses(Attempt const& a) {
  if (!by_dma_buf(a) || software_of(a).peermem) return false;
  return any_access(a, [&](PeerAccess const& access, PeerRoute const& route) {
    if (!route.through_root_complex(access.read)) return false;
    auto const* cpu = a.machine.part_of(a.machine.socket_of(access.target));
    if (cpu == nullptr) return true;
    return cpu->cpu.p2pdma == P2pdma::No || (cpu->cpu.p2pdma == P2pdma::SameHostBridge && !route.same_host_bridge);
  });
}
bool old_gpu_read_through_root_complex(Attempt const& a) {
  return any_access(a, [&](PeerAccess const& access, PeerRoute const& route) {
    auto const* gpu = a.machine.part_of(access.target);
    if (!access.read || !route.through_root_complex(true) || gpu == nullptr) return false;
    bool const ampere_or_later = compute_capability(*gpu).value_or(8.0) >= 8.0;
    bool const has_links = gpu->gpu.nvlink_ports > 0;
    return !ampere_or_later && !has_links;
  });
}
bool relay_useless(Attempt const& a) {
  auto const useless = [&](Place const& end, std::optional<PciId> relay) {
    auto const gpu = gpu_at(a.machine, end);
    return relay && (!gpu || *relay == *gpu || !has_nvlink(a.machine, *gpu, *relay));
  };
  return (!a.way.relay && !a.way.relay_to) || useless(a.from, a.way.relay) || useless(a.to, a.way.relay_to);
}
bool no_network(Attempt const& a) {
  bool const across = a.machine.host_of(a.from) != a.machine.host_of(a.to);
  if (!across) return false;
  auto const attached = [&](std::optional<PciId> nic) {
    return nic && a.machine.fabric && a.machine.fabric->find(*nic) != nullptr;
  };
  return !attached(a.way.nic_from) || !attached(a.way.nic_to);
}
// GPUDirect Storage wants physical addresses on x86; on Grace the IOMMU is what joins drive and GPU.
bool storage_under_iommu(Attempt const& a) {
  if (with_other_device(a)) return false;
  auto const mode = settings_of(a).iommu;
  auto const* id = std::get_if<PciId>(&a.from);
  auto const* cpu = id != nullptr ? a.machine.part_of(a.machine.socket_of(*id)) : nullptr;
  bool const grace = cpu != nullptr && cpu->cpu.vendor == "nvidia";
  return grace ? mode == IommuMode::Off || mode == IommuMode::Passthrough : translates(mode);
}
bool no_gpudirect_storage(Attempt const& a) { return !software_of(a).gpudirect_storage && !with_other_device(a); }

// ------------------------------------------------------------------------------------------------------------ table

constexpr std::string_view kDriver = "NVIDIA open GPU kernel modules, p2p_caps.c (df1c9a3)";
constexpr std::string_view kP2pdma = "Linux drivers/pci/p2pdma.c";
constexpr std::string_view kGdrGuide = "NVIDIA GPUDirect RDMA documentation";

// The order decides which reason a person sees first: what the platform lacks, what the product refuses, then the way.
constexpr std::array kRules{
    Rule{"GPU-RUNTIME", "Without a GPU runtime nothing can start a transfer on a GPU.",
         "CUDA Programming Guide, Multi-Device System", true, no_gpu_runtime},
    Rule{"P2P-MIG", "A GPU in MIG mode has no peers.", "NVIDIA MIG User Guide, Application Considerations; p2p_caps.c",
         true, mig_on},
    Rule{"ATOMIC-PCIE", "Native atomics do not work over PCIe peer mappings of this GPU.",
         "CUDA, cudaDevP2PAttrNativeAtomicSupported; p2p_caps.c", true, atomic_over_pcie},
    Rule{"ATOMIC-STAGED", "An atomic has no staged form: the memory must be mapped.",
         "CUDA Programming Guide, atomic functions", true, atomic},
    Rule{"NVLINK-NONE", "No NVLink joins the two.", "the machine description", true, no_nvlink},
    Rule{"HOST-NVLINK-FIRST", "A GPU with NVLink to a CPU reaches host memory over it, not over PCIe.",
         "IBM REDP-5472 (AC922); NVIDIA GH200 whitepaper", true, has_cpu_link},
    Rule{"NVLINK-FABRIC", "NVSwitch passes nothing until the fabric manager has initialised it.",
         "NVIDIA Fabric Manager User Guide", true, fabric_not_ready},
    Rule{"RELAY-NEIGHBOUR", "A relay needs a third GPU with NVLink to both.", "the machine description", true,
         no_common_nvlink_neighbour},
    Rule{"P2P-NVSWITCH-NO-FALLBACK", "GPUs on NVSwitch never fall back to PCIe peer access.", kDriver, true,
         nvswitch_without_fallback},
    Rule{"P2P-NVLINK-FIRST",
         "The driver maps a peer over NVLink where there is one; PCIe peer access is not offered beside it.", kDriver,
         true, nvlink_takes_peer},
    Rule{"P2P-PRODUCT", "The driver refuses PCIe peer access for this product.",
         "NVIDIA driver, GeForce RTX 30/40 series; nccl-tests issue 117", true, product_without_pcie_peer},
    Rule{"P2P-CHIP", "PCIe peers must be the same chip.", kDriver, true, chips_differ},
    Rule{"P2P-GUEST",
         "In a virtual machine the driver offers peer access only between devices below a switch it sees, or announced "
         "as one clique.",
         "p2p_caps.c and hypervisor.c (df1c9a3); QEMU hw/vfio/pci-quirks.c x-nv-gpudirect-clique", true,
         guest_not_approved},
    Rule{"P2P-PEER-LIMIT", "A GPU maps at most eight peers where there is no NVSwitch.",
         "CUDA Programming Guide, Peer-to-Peer Memory Access; P2P_MAX_NUM_PEERS", true, too_many_peers},
    Rule{"P2P-IOMMU-TRANSLATED",
         "On bare metal a translating IOMMU corrupts or drops peer access by raw address; use iommu off or pt.",
         "CUDA Programming Guide, IOMMU on Linux", true, raw_address_under_iommu},
    Rule{"P2P-ACS-BLOCKED", "ACS translation blocking drops translated requests at the downstream port.",
         "PCI Express Base Specification 6.12.3", true, acs_blocks},
    Rule{"P2P-RC-UNKNOWN", "Nobody says whether this root complex forwards peer requests; name the CPU's part.",
         kP2pdma, true, cpu_unknown},
    Rule{"P2P-SOCKET", "This CPU does not forward peer requests to another socket.",
         "NVIDIA driver, IOH topology rule in p2p_caps.c; Linux commit 494d63b", true, sockets_refused},
    Rule{"P2P-RC-WRITE", "This root complex does not forward peer writes between these ports.", kP2pdma, true,
         writes_not_forwarded},
    Rule{"P2P-RC-READ", "This root complex does not forward peer reads between these ports.", kP2pdma, true,
         reads_not_forwarded},
    Rule{"BAR-GDRCOPY", "The CPU reaches GPU memory through BAR1 only with gdrcopy.", "NVIDIA gdrcopy README", true,
         bar_not_mappable},
    Rule{"BAR-NONE", "This GPU has no BAR1 window that the CPU can map.", "NVIDIA gdrcopy README; part datasheet", true,
         no_bar1},
    Rule{"NET-NONE", "No fabric joins a NIC of the one node with a NIC of the other.", "the cluster description", true,
         no_network},
    Rule{"NET-VERBS", "This NIC does not do RDMA verbs.", "part datasheet", true, nic_without_verbs},
    Rule{"GDR-NIC", "This NIC's driver does not register GPU memory.",
         "rdma-core; Linux drivers/infiniband/sw/rxe has no DMA engine of its own", true, nic_without_gpudirect},
    Rule{"GDR-PRODUCT", "The driver refuses GPUDirect RDMA for this product.", kGdrGuide, true, gpu_without_rdma},
    Rule{"GDR-REGISTRATION", "GPU memory is registered through nvidia-peermem or dma-buf; neither is there.", kGdrGuide,
         true, no_registration},
    Rule{"GDR-IOMMU-TRANSLATED",
         "nvidia-peermem hands out raw addresses: the IOMMU must be off or pt (dma-buf maps them properly).",
         "GPUDirect RDMA documentation 3.4", true, peermem_under_iommu},
    Rule{"GDR-P2PDMA", "For dma-buf, Linux p2pdma does not accept a way through this host bridge.", kP2pdma, true,
         p2pdma_refuses},
    Rule{"GDR-READ-PRE-AMPERE", "GPUs before Ampere without NVLink are read too slowly through the root complex.",
         "NCCL src/graph/paths.cc, ncclTopoCheckGdr", true, old_gpu_read_through_root_complex},
    Rule{"GDR-RELAY-NEIGHBOUR", "A relay needs another GPU with NVLink to this one and nearer to the NIC.", "NCCL PXN",
         true, relay_useless},
    Rule{"GDS-SOFTWARE", "GPUDirect Storage is not set up on this machine.",
         "NVIDIA GPUDirect Storage installation guide", true, no_gpudirect_storage},
    Rule{"GDS-IOMMU", "GPUDirect Storage needs the IOMMU off or pt; on Grace it needs it on.",
         "NVIDIA GPUDirect Storage best practices and troubleshooting guides", true, storage_under_iommu},
    Rule{"DEV-REGISTRATION",
         "A device's driver reaches GPU memory through the nvidia-peermem interface or dma-buf; neither is there.",
         kGdrGuide, true, device_without_registration},
    Rule{"DEV-IOMMU-TRANSLATED",
         "Without dma-buf a device's driver gets raw addresses of GPU memory: the IOMMU must be off or pt.",
         "GPUDirect RDMA documentation 3.4", true, device_under_iommu},
    Rule{"P2P-ACS-REDIRECT",
         "ACS sends the packets up to the root complex although a switch joins the two: twice through its uplink.",
         "PCI Express Base Specification 6.12.3; Linux p2pdma ACS tests", false, acs_redirects},
    Rule{"P2P-ACS-UNKNOWN", "The ACS control could not be read (root is needed): planned as redirected.",
         "Linux: config space beyond 64 bytes needs CAP_SYS_ADMIN", false, acs_unknown},
    Rule{"BAR1-WINDOW",
         "The buffer is larger than the BAR1 window: it is mapped piece by piece, each at the price of a pin.",
         "GPUDirect RDMA documentation 3.1 to 3.5", false, larger_than_bar1},
};

// Which rules are asked for a mechanism.
std::span<std::string_view const> ids_of(Mechanism mechanism) {
  static constexpr std::array<std::string_view, 1> kLocal{"GPU-RUNTIME"};
  static constexpr std::array<std::string_view, 4> kNvlink{"GPU-RUNTIME", "P2P-MIG", "NVLINK-NONE", "NVLINK-FABRIC"};
  static constexpr std::array<std::string_view, 5> kRelay{"GPU-RUNTIME", "ATOMIC-STAGED", "P2P-MIG", "RELAY-NEIGHBOUR",
                                                          "NVLINK-FABRIC"};
  static constexpr std::array<std::string_view, 18> kPcie{
      "GPU-RUNTIME",          "P2P-MIG",         "P2P-NVSWITCH-NO-FALLBACK",
      "P2P-NVLINK-FIRST",     "P2P-PRODUCT",     "P2P-CHIP",
      "ATOMIC-PCIE",          "P2P-GUEST",       "P2P-PEER-LIMIT",
      "P2P-IOMMU-TRANSLATED", "P2P-ACS-BLOCKED", "P2P-RC-UNKNOWN",
      "P2P-SOCKET",           "P2P-RC-WRITE",    "P2P-RC-READ",
      "P2P-ACS-REDIRECT",     "P2P-ACS-UNKNOWN", "BAR1-WINDOW"};
  static constexpr std::array<std::string_view, 2> kStaged{"GPU-RUNTIME", "ATOMIC-STAGED"};
  static constexpr std::array<std::string_view, 3> kHostDma{"GPU-RUNTIME", "ATOMIC-STAGED", "HOST-NVLINK-FIRST"};
  static constexpr std::array<std::string_view, 4> kBar{"ATOMIC-STAGED", "BAR-GDRCOPY", "BAR-NONE", "BAR1-WINDOW"};
  static constexpr std::array<std::string_view, 3> kRdma{"ATOMIC-STAGED", "NET-NONE", "NET-VERBS"};
  static constexpr std::array<std::string_view, 4> kNetStaged{"GPU-RUNTIME", "ATOMIC-STAGED", "NET-NONE", "NET-VERBS"};
  static constexpr std::array<std::string_view, 18> kGdr{"ATOMIC-STAGED",
                                                         "NET-NONE",
                                                         "NET-VERBS",
                                                         "GDR-NIC",
                                                         "GDR-PRODUCT",
                                                         "GDR-REGISTRATION",
                                                         "GDR-IOMMU-TRANSLATED",
                                                         "P2P-GUEST",
                                                         "P2P-ACS-BLOCKED",
                                                         "P2P-RC-UNKNOWN",
                                                         "P2P-SOCKET",
                                                         "P2P-RC-WRITE",
                                                         "P2P-RC-READ",
                                                         "GDR-P2PDMA",
                                                         "GDR-READ-PRE-AMPERE",
                                                         "P2P-ACS-REDIRECT",
                                                         "P2P-ACS-UNKNOWN",
                                                         "BAR1-WINDOW"};
  static constexpr std::array<std::string_view, 20> kGdrRelay{
      "GPU-RUNTIME",      "ATOMIC-STAGED",  "P2P-MIG",     "NVLINK-FABRIC",    "GDR-RELAY-NEIGHBOUR",  "NET-NONE",
      "NET-VERBS",        "GDR-NIC",        "GDR-PRODUCT", "GDR-REGISTRATION", "GDR-IOMMU-TRANSLATED", "P2P-GUEST",
      "P2P-ACS-BLOCKED",  "P2P-RC-UNKNOWN", "P2P-SOCKET",  "P2P-RC-WRITE",     "P2P-RC-READ",          "GDR-P2PDMA",
      "P2P-ACS-REDIRECT", "P2P-ACS-UNKNOWN"};
  static constexpr std::array<std::string_view, 15> kStorageDirect{
      "DEV-REGISTRATION", "DEV-IOMMU-TRANSLATED", "GPU-RUNTIME",    "ATOMIC-STAGED",
      "GDS-SOFTWARE",     "GDR-PRODUCT",          "GDS-IOMMU",      "P2P-GUEST",
      "P2P-ACS-BLOCKED",  "P2P-RC-UNKNOWN",       "P2P-SOCKET",     "P2P-RC-WRITE",
      "P2P-RC-READ",      "P2P-ACS-REDIRECT",     "P2P-ACS-UNKNOWN"};
  switch (mechanism) {
    case Mechanism::Local: return kLocal;
    case Mechanism::Nvlink: return kNvlink;
    case Mechanism::NvlinkRelay: return kRelay;
    case Mechanism::PcieP2p: return kPcie;
    case Mechanism::HostDma: return kHostDma;
    case Mechanism::SharedHost: return kNetStaged;  // the other device may be a NIC
    case Mechanism::HostStaged:
    case Mechanism::StorageStaged: return kStaged;
    case Mechanism::BarCopy: return kBar;
    case Mechanism::Rdma: return kRdma;
    case Mechanism::NetStaged: return kNetStaged;
    case Mechanism::Gdr: return kGdr;
    case Mechanism::GdrRelay: return kGdrRelay;
    case Mechanism::StorageDirect: return kStorageDirect;
  }
  return {};
}

}  // namespace

std::span<Rule const> all_rules() { return kRules; }

Rule const* find_rule(std::string_view id) {
  auto const* const found = std::find_if(kRules.begin(), kRules.end(), [&](Rule const& rule) { return rule.id == id; });
  return found == kRules.end() ? nullptr : found;
}

std::span<Rule const* const> rules_of(Mechanism mechanism) {
  static auto const tables = [] {
    std::array<std::vector<Rule const*>, kMechanismCount> made;
    for (auto const m : all_mechanisms())
      for (auto const id : ids_of(m)) made[static_cast<std::size_t>(m)].push_back(find_rule(id));
    return made;
  }();
  return tables.at(static_cast<std::size_t>(mechanism));
}

Rule const* refusal(Attempt const& attempt) {
  for (auto const* rule : rules_of(attempt.way.mechanism))
    if (rule->refuses && rule->applies(attempt)) return rule;
  return nullptr;
}

std::vector<Rule const*> remarks(Attempt const& attempt) {
  std::vector<Rule const*> found;
  for (auto const* rule : rules_of(attempt.way.mechanism))
    if (!rule->refuses && rule->applies(attempt)) found.push_back(rule);
  return found;
}

}  // namespace lanewise
