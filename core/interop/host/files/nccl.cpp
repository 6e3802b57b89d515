#include "core/interop/host/files/nccl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/interop/machines/nccl/instances.hpp"
#include "core/interop/machines/nccl/links.hpp"
#include "core/interop/machines/nccl/log/nccl_log.hpp"
#include "core/interop/machines/nccl/numa_nodes.hpp"
#include "core/interop/machines/nccl/switches.hpp"

namespace lanewise {
namespace {

// Network interfaces of the kernel, over which NCCL uses sockets; every other name is an RDMA device's.
bool is_interface(std::string_view name) {
  constexpr std::array<std::string_view, 5> kStarts{"eth", "en", "bond", "ib0", "net"};
  return std::any_of(kStarts.begin(), kStarts.end(), [&](auto start) { return name.starts_with(start); });
}

class NcclFacts {
 public:
  NcclFacts(NcclSystem const& system, std::string source) : system_(system) {
    facts_.source = std::move(source);
    facts_.lists_nics = false;
    facts_.shows_config = false;
    facts_.says_software = false;
    facts_.lists_ports = false;
  }

  HostFacts make() {
    nodes_per_socket_ = system_.cpus.empty() ? 1 : numa_division(system_, nullptr).nodes_per_socket;
    facts_.notes = system_.notes;
    for (auto const& cpu : system_.cpus) add_cpu(cpu);
    if (gpudirect_) facts_.notes.emplace_back("NCCL found that a NIC registers GPU memory (GPUDirect RDMA)");
    return std::move(facts_);
  }

 private:
  void add_cpu(NcclCpu const& cpu) {
    auto& all = facts_.cpu;
    if (all.cpuid.empty()) all.cpuid = cpu.cpuid;
    if (cpu.arch == "ppc64") all.model_name = "POWER9";  // the only one with NVLink, which alone is asked about
    auto const number = std::max(0, cpu.numa);
    all.nodes.push_back({number, cpu.cores, {number / nodes_per_socket_}});
    for (auto const& pci : cpu.pci) add_top(pci, cpu.numa);
  }

  // Devices of the root bus are what they are in a guest; above everything else is a root port.
  void add_top(NcclPci const& pci, int numa) {
    auto const bus = pci.bus_id.substr(0, pci.bus_id.rfind(':'));
    std::string port;
    if (!is_on_root_bus(pci)) {
      PciFacts root;
      root.bdf = fmt::format("root port {}", ports_++);
      root.address_unknown = true;
      root.root_bus = bus;
      root.class_code = 0x060400;
      root.config.port_type = PortType::RootPort;
      root.numa = numa;
      port = root.bdf;
      facts_.pci.push_back(std::move(root));
    }
    add(pci, port, bus, numa);
  }

  void add(NcclPci const& pci, std::string const& above, std::string const& root_bus, int numa) {
    if (pci.bus_id.empty() || pci.repeated) return;  // nothing of another file could be the same
    PciFacts function;
    function.bdf = pci.bus_id;
    function.above = above;
    function.root_bus = root_bus;
    function.class_code = pci.device_class.value_or(0);
    function.id = pci.id;
    function.subsystem = pci.subsystem;
    function.link = pci.link();
    function.link_reading = LinkReading::Capability;
    function.numa = numa;
    function.is_accelerator = is_gpu(pci);
    if (pci.is_bridge()) function.config.port_type = PortType::SwitchUpstream;
    facts_.pci.push_back(std::move(function));
    for (auto const& net : pci.nets) add_nic(net, pci.bus_id);
    if (pci.gpu) add_gpu(pci);
    for (auto const& child : pci.below) add(child, pci.bus_id, root_bus, numa);
  }

  void add_nic(NcclNet const& net, std::string const& bdf) {
    constexpr double kBytesPerMegabit = 1e6 / 8;
    NicFacts nic;
    nic.name = net.name;
    nic.bdf = bdf;
    nic.rdma = net.gpudirect || !is_interface(net.name);
    nic.up = true;
    if (net.speed > 0) nic.rate = BytesPerSecond(net.speed * kBytesPerMegabit);
    gpudirect_ = gpudirect_ || net.gpudirect;
    facts_.nics.push_back(std::move(nic));
  }

  void add_gpu(NcclPci const& pci) {
    auto const& given = *pci.gpu;
    NvmlGpu gpu;
    gpu.bdf = pci.bus_id;
    gpu.id = pci.id;
    if (given.gcn.empty()) gpu.compute_capability = given.sm;
    for (auto const& link : given.links) {
      if (link.kind == NcclLink::Kind::C2c) gpu.c2c = true;
      if (link.kind == NcclLink::Kind::Xgmi && pci.bus_id < link.target)
        facts_.xgmi.push_back({pci.bus_id, link.target, std::nullopt, 1, link.count});
      if (link.kind == NcclLink::Kind::NvLink) add_nvlinks(link, gpu);
    }
    facts_.nvml.gpus.push_back(std::move(gpu));
  }
  static void add_nvlinks(NcclLink const& given, NvmlGpu& gpu) {
    constexpr std::size_t kMaxLinks = 36;
    NvmlLink link;
    link.remote = given.target_class == "0x068001"                                              ? NvlinkRemote::Cpu
                  : given.target_class.starts_with("0x0680") || given.target.starts_with("fff") ? NvlinkRemote::Switch
                                                                                                : NvlinkRemote::Gpu;
    if (link.remote == NvlinkRemote::Gpu) link.remote_bdf = given.target;
    for (int i = 0; i < given.count && gpu.links.size() < kMaxLinks; ++i) {
      link.number = static_cast<int>(gpu.links.size());
      gpu.links.push_back(link);
    }
  }

  NcclSystem const& system_;
  HostFacts facts_;
  int nodes_per_socket_ = 1;
  int ports_ = 0;
  bool gpudirect_ = false;
};

}  // namespace

HostFacts facts_of_nccl(NcclSystem const& system, std::string source) {
  return NcclFacts(system, std::move(source)).make();
}

HostFacts read_nccl_facts(SourceText const& source) {
  auto system = read_nccl_system(source);
  bool const lists_links = !is_static(system);
  auto const product = lists_links ? std::string() : static_gpu_part(system, system.notes);
  merge_switch_views(system);
  auto facts = facts_of_nccl(system, "NCCL's file");
  facts.lists_nvlinks = lists_links;
  facts.gpu_part = product;
  return facts;
}

HostFacts read_nccl_log_host(SourceText const& source) {
  auto const logged = read_nccl_logged_host(source);
  auto facts = facts_of_nccl(logged.system, "NCCL's log");
  facts.lists_nvlinks = !logged.host.tree.empty();
  if (logged.host.tree.empty())
    for (auto& function : facts.pci) function.above_unknown = true;
  return facts;
}

}  // namespace lanewise
