#include "core/machine/part_fields.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace lanewise {
namespace {

using Names = std::vector<std::string>;
using Key = FieldsOf<Part>;

// Every figure of a part may be `unknown`: a search found no source.
template <class Member>
PartField scalar(std::string const& name, std::string const& doc, Member member) {
  auto field = Key::scalar(name, doc, member);
  field.spec.unknown_allowed = true;
  return field;
}
template <class Member>
PartField positive(std::string const& name, std::string const& doc, Member member) {
  auto field = Key::positive(name, doc, member);
  field.spec.unknown_allowed = true;
  return field;
}
template <class Member>
PartField word(std::string const& name, std::string const& doc, Names const& words, Member member) {
  auto field = Key::word(name, doc, words, member);
  field.spec.unknown_allowed = true;
  return field;
}

// Why figures for people who choose are not in fingerprints.
constexpr auto kNotPredicted = "no prediction hangs on it";

void add_common(std::vector<PartField>& fields) {
  fields.push_back(not_in_fingerprint(scalar("title", "the product's name, for display", LANEWISE_MEMBER(title)),
                                      "it is only for display"));
  fields.push_back(
      not_in_fingerprint(positive("year", "year in which it was first sold", LANEWISE_MEMBER(year)), kNotPredicted));
  fields.push_back(not_in_fingerprint(
      positive("power", "power limit of the board, the package or the switch", LANEWISE_MEMBER(power)), kNotPredicted));
  fields.push_back(
      positive("spread",
               "of a generic part: its rates divided and multiplied by this hold 90 % of the products that "
               "it stands for",
               LANEWISE_MEMBER(spread)));
  fields.push_back(positive("latency_spread", "the same for its latencies", LANEWISE_MEMBER(latency_spread)));
}

void add_pcie(std::vector<PartField>& fields, std::string const& latency_doc) {
  fields.push_back(
      Key::texts("pci_ids", "PCI vendor:device ids, lower-case hex, for import", LANEWISE_MEMBER(pci_ids)));
  fields.push_back(Key::link("link", "the fastest and widest PCIe link it can negotiate", LANEWISE_MEMBER(pcie.link)));
  fields.push_back(positive("max_payload", "PCIe MPS in use", LANEWISE_MEMBER(pcie.max_payload)));
  fields.push_back(positive("max_read_request", "PCIe MRRS in use", LANEWISE_MEMBER(pcie.max_read_request)));
  fields.push_back(positive("tags", "outstanding PCIe read requests", LANEWISE_MEMBER(pcie.tags)));
  fields.push_back(scalar("relaxed_ordering", "its reads are relaxed-ordered: ACS does not redirect their completions",
                          LANEWISE_MEMBER(pcie.relaxed_ordering)));
  fields.push_back(scalar("latency", latency_doc, LANEWISE_MEMBER(pcie.latency)));
  fields.push_back(positive(
      "link_utilisation_up",
      "share of the link's payload capacity that long transfers reach, towards the root; absent: by generation",
      LANEWISE_MEMBER(pcie.link_utilisation_up)));
  fields.push_back(
      positive("link_utilisation_down", "the same from the root", LANEWISE_MEMBER(pcie.link_utilisation_down)));
}

constexpr auto kBudget = "no prediction hangs on it; files that exceed it are refused";

std::vector<PartField> cpu_fields() {
  std::vector<PartField> f;
  add_common(f);
  f.push_back(scalar("vendor", "intel, amd, arm, ibm or nvidia", LANEWISE_MEMBER(cpu.vendor)));
  f.push_back(Key::texts("cpuid", "vendor/family/model, as CPUID says (GenuineIntel/6/85), for import",
                         LANEWISE_MEMBER(cpu.cpuid)));
  f.push_back(positive("cores", "cores of one socket", LANEWISE_MEMBER(cpu.cores)));
  f.push_back(not_in_fingerprint(positive("lanes", "PCIe lanes of one socket", LANEWISE_MEMBER(cpu.lanes)), kBudget));
  f.push_back(scalar("root_port_generation", "newest PCIe generation of its root ports",
                     LANEWISE_MEMBER(cpu.root_port_generation)));
  f.push_back(positive("max_payload", "PCIe MPS of its root ports", LANEWISE_MEMBER(pcie.max_payload)));
  f.push_back(word("host_bridges", "root ports share one host bridge of the socket, or each has its own",
                   {"per_socket", "per_root_port"}, LANEWISE_MEMBER(cpu.host_bridges)));
  f.push_back(scalar("memory_bandwidth", "DRAM of one socket, theoretical", LANEWISE_MEMBER(cpu.memory_bandwidth)));
  f.push_back(positive("memory_efficiency", "share of the memory bandwidth that long mixed streams reach",
                       LANEWISE_MEMBER(cpu.memory_efficiency)));
  f.push_back(scalar("memory_latency", "latency that DRAM adds to a device's read, one way",
                     LANEWISE_MEMBER(cpu.memory_latency)));
  f.push_back(scalar("core_copy_bandwidth", "memory copy by one core", LANEWISE_MEMBER(cpu.core_copy_bandwidth)));
  f.push_back(scalar("root_complex_latency", "one way through the root complex, root port to root port or memory",
                     LANEWISE_MEMBER(cpu.root_complex_latency)));
  Names const reach{"none", "same_host_bridge", "same_socket", "any"};
  f.push_back(word("peer_write_forwarding", "between which root ports peer writes are forwarded", reach,
                   LANEWISE_MEMBER(cpu.forwarding)));
  f.push_back(word("peer_read_forwarding", "between which root ports peer reads are forwarded", reach,
                   LANEWISE_MEMBER(cpu.read_forwarding)));
  f.push_back(scalar("peer_read_bandwidth", "peer reads through the root complex, where slower than writes",
                     LANEWISE_MEMBER(cpu.peer_read_bandwidth)));
  f.push_back(scalar("peer_payload", "TLP payload of peer requests forwarded by the root complex",
                     LANEWISE_MEMBER(cpu.peer_payload)));
  f.push_back(scalar("host_bridge_peer_bandwidth", "peer traffic through one host bridge, each direction",
                     LANEWISE_MEMBER(cpu.host_bridge_peer_bandwidth)));
  f.push_back(scalar("host_write_bandwidth", "all devices of the socket writing host memory",
                     LANEWISE_MEMBER(cpu.host_write_bandwidth)));
  f.push_back(scalar("host_read_bandwidth", "all devices of the socket reading host memory",
                     LANEWISE_MEMBER(cpu.host_read_bandwidth)));
  f.push_back(scalar("host_traffic_bandwidth", "all devices of the socket writing and reading host memory, together",
                     LANEWISE_MEMBER(cpu.host_traffic_bandwidth)));
  f.push_back(scalar("host_bridge_memory_bandwidth", "host memory traffic through one host bridge, each direction",
                     LANEWISE_MEMBER(cpu.host_bridge_memory_bandwidth)));
  f.push_back(scalar("socket_peer_bandwidth", "peer traffic to another socket, one direction",
                     LANEWISE_MEMBER(cpu.socket_peer_bandwidth)));
  f.push_back(scalar("socket_peer_bandwidth_both", "peer traffic between two sockets, sum of both directions",
                     LANEWISE_MEMBER(cpu.socket_peer_bandwidth_both)));
  f.push_back(
      scalar("socket_peer_port_bandwidth",
             "peer traffic between one root port and another socket, each direction, where less than all may have",
             LANEWISE_MEMBER(cpu.socket_peer_port_bandwidth)));
  f.push_back(scalar("socket_peer_port_bandwidth_both", "the same, sum of both directions",
                     LANEWISE_MEMBER(cpu.socket_peer_port_bandwidth_both)));
  f.push_back(
      positive("host_duplex",
               "a device reads and writes host memory at once: total over twice one of them; absent: by generation",
               LANEWISE_MEMBER(cpu.host_duplex)));
  f.push_back(word("p2pdma", "Linux p2pdma accepts this host bridge", {"no", "same_host_bridge", "yes"},
                   LANEWISE_MEMBER(cpu.p2pdma)));
  f.push_back(scalar("iommu_walks", "page-table walks per second of one IOMMU", LANEWISE_MEMBER(cpu.iommu_walks)));
  f.push_back(scalar("iommu_walk_latency", "one page-table walk", LANEWISE_MEMBER(cpu.iommu_walk_latency)));
  f.push_back(positive("iotlb_entries", "entries of the IOMMU's translation cache (IOTLB)",
                       LANEWISE_MEMBER(cpu.iotlb_entries)));
  return f;
}

// Why rates of computing are not in fingerprints.
constexpr auto kTimeIsInSteps = "steps carry the time that computing takes";

std::vector<PartField> gpu_fields() {
  std::vector<PartField> f;
  add_common(f);
  add_pcie(f, "one way through the endpoint");
  f.push_back(scalar("vendor", "nvidia, amd or intel", LANEWISE_MEMBER(gpu.vendor)));
  f.push_back(scalar("chip", "the silicon (ga100, gh100, gfx906); peers must share it", LANEWISE_MEMBER(gpu.chip)));
  f.push_back(
      scalar("compute_capability", "CUDA compute capability, as '8.0'", LANEWISE_MEMBER(gpu.compute_capability)));
  f.push_back(scalar("multiprocessors", "SMs or compute units", LANEWISE_MEMBER(gpu.multiprocessors)));
  f.push_back(not_in_fingerprint(scalar("fp32_rate", "32-bit floating-point operations at peak, without matrix units",
                                        LANEWISE_MEMBER(gpu.fp32_rate)),
                                 kTimeIsInSteps));
  f.push_back(not_in_fingerprint(
      scalar("fp16_rate", "16-bit floating-point operations at peak: of dense matrices, where it has units for them",
             LANEWISE_MEMBER(gpu.fp16_rate)),
      kTimeIsInSteps));
  f.push_back(not_in_fingerprint(
      scalar("fp8_rate", "8-bit floating-point operations at peak, of dense matrices", LANEWISE_MEMBER(gpu.fp8_rate)),
      kTimeIsInSteps));
  f.push_back(not_in_fingerprint(
      scalar("fp4_rate", "4-bit floating-point operations at peak, of dense matrices", LANEWISE_MEMBER(gpu.fp4_rate)),
      kTimeIsInSteps));
  f.push_back(scalar("memory", "device memory", LANEWISE_MEMBER(gpu.memory)));
  f.push_back(scalar("memory_bandwidth", "device memory, theoretical, reads and writes together",
                     LANEWISE_MEMBER(gpu.memory_bandwidth)));
  f.push_back(positive("memory_efficiency", "share of the memory bandwidth that a copy within it reaches",
                       LANEWISE_MEMBER(gpu.memory_efficiency)));
  f.push_back(scalar("bar1", "BAR1 aperture through which others reach its memory", LANEWISE_MEMBER(gpu.bar1)));
  f.push_back(positive("copy_engines", "asynchronous copy engines; absent: as many as its generation usually has",
                       LANEWISE_MEMBER(gpu.copy_engines)));
  f.push_back(positive("peer_copy_engines",
                       "copy engines for copies to other GPUs over PCIe or through NVSwitch; absent: 1 of NVIDIA's, of "
                       "others copy_engines do them; NVLinks to other GPUs have one each",
                       LANEWISE_MEMBER(gpu.peer_copy_engines)));
  f.push_back(scalar("copy_start", "time of a copy engine from ready to first byte, back to back in a stream",
                     LANEWISE_MEMBER(gpu.copy_start)));
  f.push_back(scalar("host_copy_start", "the same for copies to or from host memory, where it differs",
                     LANEWISE_MEMBER(gpu.host_copy_start)));
  f.push_back(
      scalar("local_copy_start", "the same for copies within its own memory", LANEWISE_MEMBER(gpu.local_copy_start)));
  f.push_back(scalar("kernel_start", "time of a kernel from ready to first access, back to back in a stream",
                     LANEWISE_MEMBER(gpu.kernel_start)));
  f.push_back(scalar("pulled_start", "extra time when the destination's stream drives a peer copy",
                     LANEWISE_MEMBER(gpu.pulled_start)));
  f.push_back(scalar("engine_change", "extra time when a copy from it follows work of another engine",
                     LANEWISE_MEMBER(gpu.engine_change)));
  f.push_back(scalar("chunk_gap",
                     "time between the end of one GPU's copy and the start of another's that waits for it, as between "
                     "the chunks of a ring",
                     LANEWISE_MEMBER(gpu.chunk_gap)));
  f.push_back(word("staged_legs", "how the driver runs the two legs of a copy without peer access",
                   {"overlapped", "in_turn"}, LANEWISE_MEMBER(gpu.staged_legs)));
  f.push_back(
      scalar("staged_start", "time before such a copy moves its first byte", LANEWISE_MEMBER(gpu.staged_start)));
  f.push_back(scalar("staged_gap", "time between its chunks", LANEWISE_MEMBER(gpu.staged_gap)));
  f.push_back(positive("staged_duplex", "two such copies, one in each direction: total over twice one",
                       LANEWISE_MEMBER(gpu.staged_duplex)));
  f.push_back(scalar("max_peers", "peer mappings without NVSwitch", LANEWISE_MEMBER(gpu.max_peers)));
  f.push_back(scalar("pcie_peer", "the driver allows PCIe peer access", LANEWISE_MEMBER(gpu.pcie_peer)));
  f.push_back(scalar("pcie_atomics", "native atomics over PCIe peer mappings", LANEWISE_MEMBER(gpu.pcie_atomics)));
  f.push_back(scalar("rdma", "the driver supports GPUDirect RDMA on it", LANEWISE_MEMBER(gpu.rdma)));
  f.push_back(
      scalar("nvlink_generation", "NVLink generation; 0 or absent: none", LANEWISE_MEMBER(gpu.nvlink_generation)));
  f.push_back(scalar("nvlink_ports", "NVLink links it has", LANEWISE_MEMBER(gpu.nvlink_ports)));
  return f;
}

std::vector<PartField> nic_fields() {
  std::vector<PartField> f;
  add_common(f);
  add_pcie(f, "one way through the endpoint");
  f.push_back(scalar("driver", "mlx5, efa, bnxt_re, irdma, rxe, virtio", LANEWISE_MEMBER(nic.driver)));
  f.push_back(
      word("link_layer", "infiniband or ethernet", {"infiniband", "ethernet"}, LANEWISE_MEMBER(nic.link_layer)));
  f.push_back(word("transport",
                   "protocol of packets; by_link_layer: on Ethernet roce_v2, and tcp where the adapter does no RDMA",
                   {"by_link_layer", "roce_v1", "roce_v2", "iwarp", "tcp"}, LANEWISE_MEMBER(nic.transport)));
  f.push_back(scalar("verbs", "can do RDMA verbs", LANEWISE_MEMBER(nic.rdma)));
  f.push_back(scalar("gpudirect", "its driver can register GPU memory", LANEWISE_MEMBER(nic.gpudirect)));
  f.push_back(scalar("rate", "one port on the wire, one direction", LANEWISE_MEMBER(nic.rate)));
  f.push_back(positive("mtu", "path MTU", LANEWISE_MEMBER(nic.mtu)));
  f.push_back(scalar("wire_latency", "one way, port to port, without switches", LANEWISE_MEMBER(nic.wire_latency)));
  f.push_back(scalar("plugin_latency", "a message between nodes, as the adapter's network plugin tells NCCL",
                     LANEWISE_MEMBER(nic.plugin_latency)));
  f.push_back(scalar("ordered_writes", "it writes each 128 bytes in their order, which NCCL's LL and LL128 need",
                     LANEWISE_MEMBER(nic.ordered_writes)));
  f.push_back(scalar("message_rate", "messages per second", LANEWISE_MEMBER(nic.message_rate)));
  f.push_back(scalar("read_bandwidth", "RDMA read over one path, where slower than writes",
                     LANEWISE_MEMBER(nic.read_bandwidth)));
  f.push_back(scalar("queue_pair_bandwidth", "one queue pair, where that is less than the port",
                     LANEWISE_MEMBER(nic.queue_pair_bandwidth)));
  f.push_back(positive("payload_efficiency",
                       "payload share of the rate on the wire; absent: by the headers of packets of the MTU",
                       LANEWISE_MEMBER(nic.payload_efficiency)));
  f.push_back(scalar("socket_latency", "one end of a message through the kernel's sockets, where MPI takes them",
                     LANEWISE_MEMBER(nic.socket_latency)));
  f.push_back(
      scalar("socket_bandwidth", "one stream through the kernel's sockets", LANEWISE_MEMBER(nic.socket_bandwidth)));
  return f;
}

std::vector<PartField> switch_fields() {
  std::vector<PartField> f;
  add_common(f);
  add_pcie(f, "one pass through the switch");
  f.push_back(not_in_fingerprint(
      positive("lanes", "PCIe lanes of the chip, uplinks included", LANEWISE_MEMBER(pcie_switch.lanes)), kBudget));
  f.push_back(scalar("virtual_switch_fabric", "between virtual switches of one chip, each direction",
                     LANEWISE_MEMBER(pcie_switch.virtual_switch_fabric)));
  f.push_back(scalar("posted_write_collapse",
                     "quirk: total of devices below one uplink that write to several other root ports at once; absent: "
                     "they share the uplink",
                     LANEWISE_MEMBER(pcie_switch.posted_write_collapse)));
  return f;
}

std::vector<PartField> nvme_fields() {
  std::vector<PartField> f;
  add_common(f);
  add_pcie(f, "one way through the endpoint");
  f.push_back(scalar("read_bandwidth", "sequential reads", LANEWISE_MEMBER(nvme.read_bandwidth)));
  f.push_back(scalar("write_bandwidth", "sequential writes", LANEWISE_MEMBER(nvme.write_bandwidth)));
  f.push_back(scalar("read_latency", "a random read of one block, from the command to the data",
                     LANEWISE_MEMBER(nvme.read_latency)));
  f.push_back(scalar("write_latency", "a write of one block, likewise", LANEWISE_MEMBER(nvme.write_latency)));
  return f;
}

std::vector<PartField> device_fields() {
  std::vector<PartField> f;
  add_common(f);
  add_pcie(f, "one way through the endpoint");
  return f;
}

std::vector<PartField> link_fields() {
  std::vector<PartField> f;
  add_common(f);
  f.push_back(word("family", "what it connects", {"nvlink", "c2c", "gpu_xgmi", "socket", "network", "gpu_roce"},
                   LANEWISE_MEMBER(link.family)));
  f.push_back(scalar("generation", "NVLink generation", LANEWISE_MEMBER(link.generation)));
  f.push_back(scalar("rate", "one link, one direction, raw", LANEWISE_MEMBER(link.rate)));
  f.push_back(positive("copy_efficiency", "payload share of the raw rate for copy engines and DMA",
                       LANEWISE_MEMBER(link.copy_efficiency)));
  f.push_back(positive("copy_efficiency_to_cpu",
                       "payload share from a GPU into its CPU's memory, where it differs from the other direction",
                       LANEWISE_MEMBER(link.copy_efficiency_to_cpu)));
  f.push_back(positive("load_store_efficiency", "payload share of the raw rate for SM loads and stores",
                       LANEWISE_MEMBER(link.load_store_efficiency)));
  f.push_back(positive("load_efficiency", "the same for SM loads, where it differs from stores",
                       LANEWISE_MEMBER(link.load_efficiency)));
  f.push_back(positive("duplex", "both directions together over twice one", LANEWISE_MEMBER(link.duplex)));
  f.push_back(scalar("latency", "one way", LANEWISE_MEMBER(link.latency)));
  return f;
}

std::vector<PartField> hop_fields(PartKind kind) {
  std::vector<PartField> f;
  add_common(f);
  f.push_back(Key::texts("pci_ids", "PCI vendor:device ids, lower-case hex, for import", LANEWISE_MEMBER(pci_ids)));
  f.push_back(scalar("latency", "one pass through the switch", LANEWISE_MEMBER(hop.latency)));
  f.push_back(scalar("rate", "one port, one direction", LANEWISE_MEMBER(hop.rate)));
  f.push_back(not_in_fingerprint(positive("ports", "ports of the rate", LANEWISE_MEMBER(hop.ports)), kBudget));
  if (kind != PartKind::NetworkSwitch) return f;
  f.push_back(positive("reduction_efficiency",
                       "of a switch that adds up what nodes send (SHARP): the share of a NIC's rate that it does it at",
                       LANEWISE_MEMBER(hop.reduction_efficiency)));
  f.push_back(positive("reduction_streams", "how many such streams pass one switch at a time",
                       LANEWISE_MEMBER(hop.reduction_streams)));
  return f;
}

}  // namespace

std::vector<PartField> const& part_fields(PartKind kind) {
  static std::array<std::vector<PartField>, 9> const tables{cpu_fields(),
                                                            gpu_fields(),
                                                            nic_fields(),
                                                            switch_fields(),
                                                            nvme_fields(),
                                                            device_fields(),
                                                            link_fields(),
                                                            hop_fields(PartKind::NvSwitch),
                                                            hop_fields(PartKind::NetworkSwitch)};
  return tables.at(static_cast<std::size_t>(kind));
}

bool is_name(std::string_view key) {
  constexpr std::array<std::string_view, 9> kNames{"title",      "vendor",    "driver",     "family",           "chip",
                                                   "link_layer", "transport", "generation", "nvlink_generation"};
  return std::find(kNames.begin(), kNames.end(), key) != kNames.end();
}

}  // namespace lanewise
