#include "core/interop/machines/nccl/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/nccl/document.hpp"
#include "core/interop/machines/nccl/instances.hpp"
#include "core/interop/machines/nccl/links.hpp"
#include "core/interop/machines/nccl/parts.hpp"
#include "core/interop/machines/nccl/switches.hpp"

namespace lanewise {
namespace {

PciKind kind_of(NcclPci const& pci) {
  if (pci.is_bridge()) return PciKind::Switch;
  if (is_gpu(pci)) return PciKind::Gpu;
  auto const code = pci.device_class.value_or(0) >> 8;
  if (!pci.nets.empty() || code >> 8 == 0x02) return PciKind::Nic;
  return code == 0x0108 ? PciKind::Nvme : PciKind::Device;
}

// Virtual machines put passed-through devices straight on the root bus. It shows: a device below a port is never on bus
// 00, and always has device number 0.
bool is_on_root_bus(NcclPci const& pci) {
  if (pci.is_bridge() || pci.bus_id.empty()) return false;
  auto const bus = pci.bus_id.substr(pci.bus_id.find(':') + 1);  // "3b:00.0"
  return bus.starts_with("00:") || bus.substr(3, 2) != "00";
}

// Makes a Machine of the checked file, in the order of a machine file.
class NcclImporter {
 public:
  // `product`: the GPUs' part where the file does not say it.
  NcclImporter(NcclSystem const& system, std::string name, std::string product, TopoOptions const& options,
               Catalogue& catalogue)
      : system_(system),
        product_(std::move(product)),
        options_(options),
        builder_(std::move(name), catalogue),
        links_(system, builder_) {}

  Machine import() {
    for (auto const& note : system_.notes) builder_.note(note);
    infer_virtualization();
    number_gpus();
    for (auto const& cpu : system_.cpus) add_cpu(cpu);
    builder_.add_usual_socket_links();
    add_gpu_links();
    add_nvswitch();
    add_product_links();
    check_ports();
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
    auto const nodes = system_.cpus.size();
    if (nodes > 1)
      builder_.note(fmt::format(
          "the file has {} NUMA nodes and does not say which share a socket; each is taken for a socket of its own",
          nodes));
    if (system_.cpus.front().numa < 0) builder_.note("the file gives NUMA node -1 (not known); taken for node 0");
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
    auto part = cpu_part(cpu, builder_);
    if (!options_.cpu.empty()) part = options_.cpu;
    if (part.empty())
      part = generic("cpu-generic", PartKind::Cpu, "a CPU that it does not have or the file does not name", "--cpu");
    auto const socket = builder_.add_socket(part, std::max(0, cpu.numa), cpu.cores);
    for (auto const& pci : cpu.pci) add_top(pci, socket);
    for (auto const& net : cpu.nets) add_unplaced_net(net, socket);
  }

  HostBridgeId bridge_of(SocketId socket, std::string_view root_port) {
    auto const& machine = builder_.machine();
    auto const* cpu = machine.part_of(socket);
    bool const own = !root_port.empty() && cpu != nullptr && cpu->cpu.host_bridges == HostBridges::PerRootPort;
    return builder_.host_bridge(
        socket, own ? fmt::format("{}.hb-{}", machine.at(socket).name, root_port) : machine.at(socket).name + ".hb");
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
    function.part = part_of(pci, function.kind);
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

  std::optional<PartId> part_of(NcclPci const& pci, PciKind kind) {
    switch (kind) {
      case PciKind::Switch:
        return builder_.part(given_or(options_.pcie_switch, [&] { return switch_part(pci, builder_); }),
                             PartKind::Switch);
      case PciKind::Gpu: return builder_.part(gpu_name(pci), PartKind::Gpu);
      case PciKind::Nic:
        return builder_.part(given_or(options_.nic, [&] { return nic_part(pci, builder_); }), PartKind::Nic);
      case PciKind::Nvme: return builder_.part(builder_.part_by_pci_id(pci.id, PartKind::Nvme), PartKind::Nvme);
      case PciKind::Device: return builder_.part(builder_.part_by_pci_id(pci.id, PartKind::Device), PartKind::Device);
      case PciKind::RootPort: break;
    }
    return std::nullopt;
  }

  // What the user names, else what the file tells.
  template <class Read>
  static std::string given_or(std::string const& given, Read read) {
    return given.empty() ? read() : given;
  }

  std::string gpu_name(NcclPci const& pci) {
    if (!options_.gpu.empty()) return options_.gpu;
    if (!product_.empty() && pci.id.empty()) return product_;
    auto const name = gpu_part(pci, links_.gpus()[gpus_.size()].nvlinks, builder_);
    bool const amd = pci.id.starts_with("1002:") || (pci.gpu && !pci.gpu->gcn.empty());
    if (!name.empty() || amd) return name;
    return generic("gpu-generic", PartKind::Gpu, "a GPU that it does not have or the file does not name", "--gpu");
  }

  // A generic part where the catalogue has it, with a note that names the option for the exact one.
  std::string generic(std::string const& name, PartKind kind, std::string_view what, std::string_view option) {
    auto const* part = builder_.catalogue().part(name);
    if (part == nullptr || part->kind != kind) return {};
    builder_.note(fmt::format("inferred: '{}', with a wide range, for {}; {} names the exact one", name, what, option));
    return name;
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

  // ----------------------------------------------------------------------------------------------- links of GPUs
  struct PlacedGpu {
    PciId id{};
    SocketId socket{};
    std::string sm;
  };
  [[nodiscard]] Part const* part_of(PlacedGpu const& gpu) const { return builder_.machine().part_of(gpu.id); }

  int generation(PlacedGpu const& gpu) const { return nvlink_generation(part_of(gpu), gpu.sm); }

  PartId link_part(PlacedGpu const& gpu) {
    auto const* part = part_of(gpu);
    return builder_.nvlink_part(generation(gpu), part == nullptr ? std::string() : part->gpu.chip);
  }

  void add_gpu_links() {
    for (auto const& [ends, bundle] : links_.pairs()) {
      auto const& a = gpus_[ends.first];
      bool const xgmi = bundle.kind == NcclLink::Kind::Xgmi;
      auto const part =
          xgmi ? builder_.part_or_stand_in(xgmi_part(part_of(a), builder_), PartKind::Link, LinkFamily::GpuXgmi)
               : link_part(a);
      builder_.add_nvlink(a.id, gpus_[ends.second].id, part, bundle.count);
    }
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      auto const& links = links_.gpus()[i];
      if (links.to_cpu > 0) builder_.add_nvlink(gpus_[i].id, gpus_[i].socket, link_part(gpus_[i]), links.to_cpu);
      if (links.c2c > 0) add_c2c(gpus_[i], links.c2c);
    }
  }

  // NCCL writes the rates of C2C lanes. A part stands for all lanes, so the count is the sum of rates over the part's.
  void add_c2c(PlacedGpu const& gpu, double megabytes_per_second) {
    auto const part = builder_.part_or_stand_in("nvlink-c2c", PartKind::Link, LinkFamily::C2c);
    auto const whole = builder_.machine().at(part).link.rate;
    auto const count = whole ? std::round(megabytes_per_second * 1e6 / whole->value()) : 1;
    builder_.add_nvlink(gpu.id, gpu.socket, part, static_cast<int>(std::clamp(count, 1.0, 1024.0)));
  }

  // NCCL lists NVSwitches for each GPU and link; here they are one crossbar.
  void add_nvswitch() {
    std::vector<NvSwitch::Port> ports;
    int link_generation = 0;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      auto const links = links_.gpus()[i].to_switch;
      if (links == 0) continue;
      if (ports.empty()) link_generation = generation(gpus_[i]);
      ports.push_back({gpus_[i].id, links});
    }
    if (!ports.empty()) builder_.add_nvswitch(link_generation, std::move(ports));
  }

  // NCCL finds NVLinks when it runs, so static files have none: what the product has is added.
  void add_product_links() {
    if (!is_static(system_) || gpus_.empty()) return;
    auto const& machine = builder_.machine();
    if (!machine.nvlinks.empty() || !machine.nvswitches.empty()) return;
    auto const* part = part_of(gpus_[0]);
    bool const same = std::all_of(gpus_.begin(), gpus_.end(), [&](PlacedGpu const& gpu) {
      return part != nullptr && part_of(gpu) != nullptr && part_of(gpu)->name == part->name;
    });
    if (!same) return;
    auto const name = part->name;
    auto const generation = part->gpu.nvlink_generation;
    auto const chip = part->gpu.chip;
    auto const links = product_links(*part, gpus_.size());
    if (links.to_switch > 0) {
      std::vector<NvSwitch::Port> ports;
      for (auto const& gpu : gpus_) ports.push_back({gpu.id, links.to_switch});
      builder_.add_nvswitch(generation, std::move(ports));
      builder_.note(
          fmt::format("inferred: {} NVLinks of each GPU to NVSwitches, as '{}' has them; the file, which NCCL "
                      "completes when it runs, has no NVLink",
                      links.to_switch, name));
    }
    for (auto const& pair : links.pairs)
      builder_.add_nvlink(gpus_[pair.a].id, gpus_[pair.b].id, builder_.nvlink_part(generation, chip), pair.count);
    if (!links.pairs.empty())
      builder_.note(
          fmt::format("inferred: NVLinks between {} pairs, as boards of {} '{}' have them; the file, which NCCL "
                      "completes when it runs, has no NVLink, and its GPUs may be numbered otherwise",
                      links.pairs.size(), gpus_.size(), name));
    if (links.to_switch == 0 && links.pairs.empty() && part->gpu.nvlink_ports > 0)
      builder_.note(fmt::format(
          "the file has no NVLink, and whether bridges join its '{}' is not known; 'nvlinks' gives them", name));
  }

  // A named part with fewer ports than the file gives the GPU links is not that GPU.
  void check_ports() const {
    auto const& machine = builder_.machine();
    std::vector<int> used(gpus_.size(), 0);
    for (auto const& [ends, bundle] : links_.pairs()) {
      used[ends.first] += bundle.count;
      used[ends.second] += bundle.count;
    }
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      auto const& links = links_.gpus()[i];
      auto const count = used[i] + links.to_switch + links.to_cpu;
      auto const* part = machine.part_of(gpus_[i].id);
      if (part == nullptr || part->spread || part->gpu.vendor != "nvidia" || count <= part->gpu.nvlink_ports) continue;
      throw InputError(
          fmt::format("the file gives '{}' {} links to others, but '{}' has {} NVLink ports; --gpu names the part",
                      machine.at(gpus_[i].id).name, count, part->name, part->gpu.nvlink_ports));
    }
  }

  void note_gpus() {
    if (gpus_.empty())
      builder_.note("the file has no GPU: NCCL finds them when it runs; only NICs and other devices can be asked for");
  }

  NcclSystem const& system_;
  std::string product_;
  TopoOptions const& options_;
  MachineBuilder builder_;
  NcclLinks links_;
  std::vector<PlacedGpu> gpus_;  // in file order, as in links_
  std::vector<std::string> unlinked_;
  std::vector<std::string> several_ports_;
  std::vector<std::string> slow_uplinks_;
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
  return NcclImporter(system, name, product, parts, catalogue).import();
}

}  // namespace lanewise
