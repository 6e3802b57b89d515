#include "core/interop/machines/nccl/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/nccl/document.hpp"
#include "core/interop/machines/nccl/gpu_links.hpp"
#include "core/interop/machines/nccl/instances.hpp"
#include "core/interop/machines/nccl/links.hpp"
#include "core/interop/machines/nccl/numa_nodes.hpp"
#include "core/interop/machines/nccl/part_choice.hpp"
#include "core/interop/machines/nccl/switches.hpp"
#include "core/interop/machines/product_links.hpp"

namespace lanewise {
namespace {

PciKind kind_of(NcclPci const& pci) {
  if (pci.is_bridge()) return PciKind::Switch;
  if (is_gpu(pci)) return PciKind::Gpu;
  auto const code = pci.device_class.value_or(0) >> 8;
  if (!pci.nets.empty() || code >> 8 == 0x02) return PciKind::Nic;
  return code == 0x0108 ? PciKind::Nvme : PciKind::Device;
}

// Makes a Machine of the checked file, in the order of a machine file.
class NcclImporter {
 public:
  // `product`: the GPUs' part where the file does not say it. `division`: which of the system's CPUs, in the order of
  // their nodes, share a socket.
  NcclImporter(NcclSystem const& system, std::string name, std::string product, NumaDivision division,
               TopoOptions const& options, Catalogue& catalogue)
      : system_(system),
        division_(std::move(division)),
        options_(options),
        builder_(std::move(name), catalogue),
        parts_(options, std::move(product), builder_),
        links_(system, builder_) {}

  Machine import() {
    for (auto const& note : system_.notes) builder_.note(note);
    infer_virtualization();
    number_gpus();
    for (auto const& cpu : system_.cpus) add_cpu(cpu);
    builder_.add_usual_socket_links();
    add_gpu_links(links_, gpus_, builder_);
    infer_links();
    note_gpus();
    note_missing_links();
    note_several_ports();
    note_slow_uplinks();
    return builder_.take();
  }

 private:
  // ------------------------------------------------------------------------------------------------------ machine
  void infer_virtualization() {
    bool flat = false;
    bool grouped = false;
    for (auto const& cpu : system_.cpus) {
      flat = flat || std::any_of(cpu.pci.begin(), cpu.pci.end(), is_on_root_bus);
      grouped =
          grouped || std::any_of(cpu.pci.begin(), cpu.pci.end(), [](NcclPci const& pci) { return pci.is_virtual(); });
    }
    passthrough_ = flat || grouped;
    builder_.settings().virtualization.passthrough = passthrough_;
    if (flat)
      builder_.note(
          "inferred: a virtual machine with passed-through devices, for they are on the root bus (bus 00, or a device "
          "number other than 0)");
    if (grouped)
      builder_.note(
          "inferred: a virtual machine with passed-through devices, for its file groups them below bridges at ffff:ff");
    builder_.note("NCCL's file does not say: ACS, IOMMU, root ports (each is inferred from what hangs below it)");
    note_sockets();
    if (system_.cpus.front().numa < 0) builder_.note("the file gives NUMA node -1 (not known); taken for node 0");
  }

  void note_sockets() {
    auto const nodes = system_.cpus.size();
    if (nodes < 2) return;
    if (division_.nodes_per_socket > 1)
      builder_.note(
          fmt::format("inferred: {} NUMA nodes a socket, for {}", division_.nodes_per_socket, division_.reason));
    else if (division_.reason.empty())
      builder_.note(
          fmt::format("the file has {} NUMA nodes and does not say which share a socket; each is taken for a socket of "
                      "its own, unless --cpu names a CPU whose number of cores tells it",
                      nodes));
  }

  // GPUs are named by CUDA's numbers where every GPU has a different one, else in file order.
  void number_gpus() {
    std::set<int> numbers;
    std::size_t gpus = 0;
    auto const visit = [&](auto const& self, NcclPci const& pci) -> void {
      if (is_gpu(pci)) {
        ++gpus;
        if (pci.gpu && pci.gpu->device) numbers.insert(*pci.gpu->device);
      }
      for (auto const& child : pci.below) self(self, child);
    };
    for (auto const& cpu : system_.cpus)
      for (auto const& pci : cpu.pci) visit(visit, pci);
    cuda_numbers_ = numbers.size() == gpus;
  }

  // ------------------------------------------------------------------------------------------------------- sockets
  void add_cpu(NcclCpu const& cpu) {
    auto const number = std::max(0, cpu.numa);
    bool const shares_socket = division_.nodes_per_socket > 1 && number / division_.nodes_per_socket == socket_number_;
    if (!socket_ || !shares_socket) {
      socket_ = builder_.add_socket(parts_.cpu(cpu), number, cpu.cores);
      numa_ = NumaId(builder_.machine().numa_nodes.size() - 1);
    } else {
      numa_ = builder_.add_numa(*socket_, number, cpu.cores);
    }
    socket_number_ = number / division_.nodes_per_socket;
    for (auto const& pci : cpu.pci) add_top(pci, *socket_);
    for (auto const& net : cpu.nets) add_unplaced_net(net, *socket_);
  }

  HostBridgeId bridge_of(SocketId socket, std::string_view root_port) {
    auto const& machine = builder_.machine();
    auto const* cpu = machine.part_of(socket);
    bool const own = !root_port.empty() && cpu != nullptr && cpu->cpu.host_bridges == HostBridges::PerRootPort;
    auto const stem = division_.nodes_per_socket > 1 ? machine.at(numa_).name : machine.at(socket).name;
    return builder_.host_bridge(socket, own ? fmt::format("{}.hb-{}", stem, root_port) : stem + ".hb", numa_);
  }

  void add_top(NcclPci const& pci, SocketId socket) {
    if (is_on_root_bus(pci)) {
      add_function(pci, std::nullopt, bridge_of(socket, ""), socket);
      return;
    }
    auto const name = builder_.next_name(PciKind::RootPort);
    auto const bridge = bridge_of(socket, name);
    add_function(pci, builder_.add_root_port(name, bridge), bridge, socket);
  }

  // ----------------------------------------------------------------------------------------------------- functions
  void add_function(NcclPci const& pci, std::optional<PciId> parent, HostBridgeId bridge, SocketId socket) {
    PciFunction function;
    function.kind = kind_of(pci);
    function.name = function.kind == PciKind::Gpu && cuda_numbers_ ? fmt::format("gpu{}", *pci.gpu->device)
                                                                   : builder_.next_name(function.kind);
    function.parent = parent;
    function.host_bridge = bridge;
    function.part =
        parts_.of(pci, function.kind, function.kind == PciKind::Gpu ? links_.gpus()[gpus_.size()].nvlinks : 0);
    function.link = pci.link();
    if (!pci.is_virtual() && !pci.repeated) function.bdf = pci.bus_id;
    if (!function.link) unlinked_.push_back(function.name);
    if (function.kind == PciKind::Nic) describe_nic(pci, function);
    if (function.kind == PciKind::Switch) note_slow_uplink(pci, function.name);
    auto const id = builder_.add(function);
    if (function.kind == PciKind::Gpu) gpus_.push_back({id, socket, pci.gpu ? pci.gpu->sm : std::string()});
    if (function.kind != PciKind::Switch) return;
    for (auto const& child : pci.below) add_function(child, id, bridge, socket);
    for (auto const& net : pci.nets) add_net(net, id, bridge, std::nullopt);
  }

  // The ports of a NIC share its PCIe link, so they become one function with the sum of their rates.
  void describe_nic(NcclPci const& pci, PciFunction& function) {
    if (pci.nets.empty()) return;
    function.device_name = pci.nets.front().name;
    if (pci.nets.size() > 1) {
      std::vector<std::string> names;
      for (auto const& net : pci.nets) names.push_back(net.name);
      several_ports_.push_back(fmt::format("{} ({})", function.name, fmt::join(names, ", ")));
    }
    set_rate(function, std::accumulate(pci.nets.begin(), pci.nets.end(), 0.0,
                                       [](double sum, NcclNet const& net) { return sum + std::max(0, net.speed); }));
    for (auto const& net : pci.nets) note_gpudirect(net);
  }

  void set_rate(PciFunction& function, double megabits_per_second) {
    if (megabits_per_second <= 0) return;
    constexpr double kBytesPerMegabit = 1e6 / 8;
    builder_.set_rate(function, BytesPerSecond(megabits_per_second * kBytesPerMegabit));
  }

  // gdr="1" of a NIC means that its driver registered GPU memory; that of a GPU means only that the GPU could.
  void note_gpudirect(NcclNet const& net) {
    if (!net.gpudirect) return;
    builder_.software().peermem = true;
    builder_.note(
        "inferred: peermem, for NCCL found that a NIC registers GPU memory (gdr=\"1\"); it may be dma-buf instead");
  }

  // Adds a network device that has no PCI address in the file.
  void add_unplaced_net(NcclNet const& net, SocketId socket) {
    builder_.note(fmt::format("where '{}' is attached is not in the file; placed on the root bus", net.name));
    // An RDMA adapter by its name, of which product nobody says.
    bool const rdma = net.name.starts_with("mlx5");
    auto const part = !options_.nic.empty() ? options_.nic
                      : rdma                ? ""
                      : passthrough_        ? "virtio-net"
                                            : "ethernet-generic";
    add_net(net, std::nullopt, bridge_of(socket, ""), builder_.part(part, PartKind::Nic));
  }

  void add_net(NcclNet const& net, std::optional<PciId> parent, HostBridgeId bridge, std::optional<PartId> part) {
    PciFunction function;
    function.kind = PciKind::Nic;
    function.name = builder_.next_name(PciKind::Nic);
    function.parent = parent;
    function.host_bridge = bridge;
    function.part = part;
    function.device_name = net.name;
    set_rate(function, net.speed);
    constexpr int kAssumedSpeed = 10'000;  // NCCL src/transport/net_socket.cc, where the driver states none
    if (net.speed == kAssumedSpeed)
      builder_.note(fmt::format("the 10 Gb/s of '{}' are what NCCL writes where the driver states no speed", net.name));
    note_gpudirect(net);
    builder_.add(std::move(function));
  }

  void note_several_ports() {
    if (!several_ports_.empty())
      builder_.note(fmt::format("NICs with several ports stand for all of them, with the sum of their rates: {}",
                                fmt::join(several_ports_, ", ")));
  }

  // A switch that trains slower than everything below it is a fault worth seeing, or firmware that says so wrongly.
  void note_slow_uplink(NcclPci const& pci, std::string const& name) {
    if (!pci.link() || pci.below.empty()) return;
    bool const slower = std::all_of(pci.below.begin(), pci.below.end(),
                                    [&](NcclPci const& device) { return device.generation > pci.generation; });
    if (slower) slow_uplinks_.push_back(fmt::format("{} ({})", name, to_string(*pci.link())));
  }
  void note_slow_uplinks() {
    if (!slow_uplinks_.empty())
      builder_.note(
          fmt::format("the file gives switches a slower link to the CPU than to their devices: {}; some switch "
                      "firmware misreports it, see 'lspci -vv'",
                      fmt::join(slow_uplinks_, ", ")));
  }

  void note_missing_links() {
    if (unlinked_.empty()) return;
    constexpr std::size_t kMaxNamed = 16;
    auto const named = std::span(unlinked_).first(std::min(kMaxNamed, unlinked_.size()));
    builder_.note(fmt::format("the file gives no PCIe link of {}{}; what both ends can do is assumed",
                              fmt::join(named, ", "), unlinked_.size() > kMaxNamed ? ", ..." : ""));
  }

  // NCCL finds NVLinks when it runs, so static files have none.
  void infer_links() {
    if (!is_static(system_)) return;
    std::vector<PciId> gpus;
    for (auto const& gpu : gpus_) gpus.push_back(gpu.id);
    add_product_links(gpus, builder_);
  }

  void note_gpus() {
    if (gpus_.empty())
      builder_.note(
          "missing: the file has no GPU: NCCL finds them when it runs; only NICs and other devices can be asked for");
  }

  NcclSystem const& system_;
  NumaDivision division_;
  TopoOptions const& options_;
  MachineBuilder builder_;
  NcclPartChoice parts_;
  NcclLinks links_;
  std::vector<NcclPlacedGpu> gpus_;  // in file order, as in links_
  std::vector<std::string> unlinked_;
  std::vector<std::string> several_ports_;
  std::vector<std::string> slow_uplinks_;
  std::optional<SocketId> socket_;
  int socket_number_ = 0;
  NumaId numa_{};
  bool passthrough_ = false;
  bool cuda_numbers_ = false;
};

}  // namespace

Machine read_nccl_topology(SourceText const& source, TopoOptions const& options, Catalogue& catalogue) {
  return machine_of_nccl(read_nccl_system(source), machine_name_from(source.name()), options, catalogue);
}

Machine read_nccl_topology(SourceText const& source, Catalogue& catalogue) {
  return read_nccl_topology(source, {}, catalogue);
}

Machine machine_of_nccl(NcclSystem system, std::string const& name, TopoOptions const& parts, Catalogue& catalogue) {
  TopoParts const checked(parts, catalogue);  // throws where a name is no part
  std::string product;
  if (is_static(system)) product = static_gpu_part(system, system.notes);
  merge_switch_views(system);
  auto const* cpu = parts.cpu.empty() ? catalogue.part_by_cpuid(system.cpus.front().cpuid) : catalogue.part(parts.cpu);
  auto division = numa_division(system, cpu);
  if (division.nodes_per_socket > 1)
    std::stable_sort(system.cpus.begin(), system.cpus.end(),
                     [](NcclCpu const& a, NcclCpu const& b) { return a.numa < b.numa; });
  return NcclImporter(system, name, product, std::move(division), parts, catalogue).import();
}

}  // namespace lanewise
