#include "core/interop/exports/nccl_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <sstream>
#include <vector>

#include "core/interop/exports/exported_ids.hpp"
#include "core/interop/exports/pci_layout.hpp"
#include "core/model/resources/figures.hpp"
#include "core/planner/collectives/algorithms/rings.hpp"
#include "core/planner/libraries/nccl/topology.hpp"
#include "core/planner/libraries/steps/library_steps.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {
namespace {

// NVSwitches have no addresses in machine files; NCCL asks only for the class of what an NVLink leads to.
constexpr char const* kSwitchClass = "0x068000";
constexpr char const* kSwitchAddress = "ffff:fe:00.0";
constexpr char const* kGpuClass = "0x030200";

std::string text_of(pugi::xml_document const& document) {
  std::ostringstream text;
  document.save(text, "  ", pugi::format_indent | pugi::format_no_declaration);
  return text.str();
}

// "0000ffff,ffff0000".
std::string affinity(std::set<int> const& cores) { return mask_text(cores, ""); }

// As Linux writes it, and NCCL compares it: any other text counts as generation 3.
std::string link_speed(PcieLink link) {
  constexpr std::array<char const*, 6> kSpeeds{"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};
  return fmt::format("{} GT/s PCIe", kSpeeds.at(static_cast<std::size_t>(std::clamp(link.generation, 1, 6) - 1)));
}

class TopologyWriter {
 public:
  TopologyWriter(Machine const& machine, NcclDetail detail)
      : machine_(machine), detail_(detail), layout_(pci_layout(machine)), cores_(exported_cores(machine)) {}

  std::string write() {
    find_needed();
    pugi::xml_document document;
    auto system = document.append_child("system");
    system.append_attribute("version") = 1;
    for (std::size_t numa = 0; numa < machine_.numa_nodes.size(); ++numa) add_cpu(system, NumaId(numa));
    return text_of(document);
  }

 private:
  using Node = pugi::xml_node;

  [[nodiscard]] bool is_leaf(ExportedFunction const& function) const {
    auto const kind = machine_.at(function.function).kind;
    return function.port == ExportedPort::Endpoint && (kind == PciKind::Gpu || kind == PciKind::Nic) &&
           !machine_.is_off(function.function);
  }
  // GPUs and NICs, and what is above them: NCCL leaves out the rest too.
  void find_needed() {
    needed_.assign(layout_.functions.size(), false);
    for (std::size_t i = layout_.functions.size(); i-- > 0;) {
      auto const& function = layout_.functions[i];
      needed_[i] = needed_[i] || is_leaf(function);
      if (needed_[i] && function.parent) needed_[*function.parent] = true;
    }
  }

  void add_cpu(Node system, NumaId numa) {
    auto const& node = machine_.at(numa);
    auto cpu = system.append_child("cpu");
    cpu.append_attribute("numaid") = node.os_index;
    cpu.append_attribute("affinity") = affinity(cores_[index(numa)]).c_str();
    auto const* part = machine_.part_of(node.socket);
    auto const words =
        part != nullptr && !part->cpu.cpuid.empty() ? split_cpuid(part->cpu.cpuid.front()) : CpuidWords{};
    cpu.append_attribute("arch") = words.vendor == "ARM" ? "arm64" : words.vendor == "IBM" ? "ppc64" : "x86_64";
    if (!words.vendor.empty() && words.vendor != "ARM" && words.vendor != "IBM") {
      cpu.append_attribute("vendor") = words.vendor.c_str();
      cpu.append_attribute("familyid") = words.family.c_str();
      cpu.append_attribute("modelid") = words.model.c_str();
    }
    std::map<std::size_t, Node> written{};
    for (std::size_t i = 0; i < layout_.functions.size(); ++i) {
      auto const& function = layout_.functions[i];
      if (!needed_[i] || machine_.at(function.bridge).numa != numa) continue;
      // Of a switch only the upstream port is in the file, and no root port.
      bool const is_shown = function.port == ExportedPort::SwitchUpstream || function.port == ExportedPort::Endpoint;
      if (is_shown) written.emplace(i, add_pci(above(cpu, written, function), function));
    }
  }
  [[nodiscard]] Node above(Node cpu, std::map<std::size_t, Node> const& written,
                           ExportedFunction const& function) const {
    for (auto parent = function.parent; parent; parent = layout_.functions[*parent].parent)
      if (auto const found = written.find(*parent); found != written.end()) return found->second;
    return cpu;
  }

  Node add_pci(Node above, ExportedFunction const& function) {
    auto pci = above.append_child("pci");
    auto const ids = exported_ids(machine_, function);
    auto const colon = ids.id.find(':');
    pci.append_attribute("busid") = function.bdf.c_str();
    pci.append_attribute("class") = fmt::format("0x{:06x}", ids.class_code).c_str();
    pci.append_attribute("vendor") = ("0x" + ids.id.substr(0, colon)).c_str();
    pci.append_attribute("device") = ("0x" + ids.id.substr(colon + 1)).c_str();
    auto const link = exported_link(machine_, function);
    pci.append_attribute("link_speed") = link ? link_speed(*link).c_str() : "";
    pci.append_attribute("link_width") = link ? link->width : 0;
    auto const kind = machine_.at(function.function).kind;
    if (detail_ == NcclDetail::AsDumped && function.port == ExportedPort::Endpoint) {
      if (kind == PciKind::Gpu) add_gpu(pci, function.function);
      if (kind == PciKind::Nic) add_net(pci, function.function);
    }
    return pci;
  }

  void add_gpu(Node pci, PciId gpu) {
    auto node = pci.append_child("gpu");
    node.append_attribute("dev") = static_cast<unsigned>(gpus_);
    if (auto const* part = machine_.part_of(gpu); part != nullptr)
      if (auto const capability = compute_capability(*part))
        node.append_attribute("sm") = static_cast<int>(std::lround(*capability * 10));
    node.append_attribute("rank") = static_cast<unsigned>(gpus_++);
    node.append_attribute("gdr") = 1;
    for (auto const& domain : machine_.nvswitches)
      for (auto const& port : domain.ports)
        if (port.gpu == gpu) add_nvlink(node, kSwitchAddress, port.count, kSwitchClass);
    for (auto const& bundle : machine_.nvlinks)
      for (auto const& [own, other] : {std::pair(bundle.a, bundle.b), std::pair(bundle.b, bundle.a)}) {
        auto const* here = std::get_if<PciId>(&own);
        auto const* there = std::get_if<PciId>(&other);
        if (here == nullptr || there == nullptr || *here != gpu) continue;
        add_nvlink(node, address_of(layout_, *there).c_str(), bundle.count, kGpuClass);
      }
  }
  static void add_nvlink(Node gpu, char const* target, int count, char const* target_class) {
    auto link = gpu.append_child("nvlink");
    link.append_attribute("target") = target;
    link.append_attribute("count") = count;
    link.append_attribute("tclass") = target_class;
  }

  void add_net(Node pci, PciId nic) {
    auto net = pci.append_child("nic").append_child("net");
    auto const* part = machine_.part_of(nic);
    net.append_attribute("name") = machine_.at(nic).name.c_str();
    net.append_attribute("dev") = static_cast<unsigned>(nics_++);
    if (part != nullptr && part->nic.rate)
      net.append_attribute("speed") = static_cast<long long>(std::llround(part->nic.rate->value() * 8 / 1e6));
    net.append_attribute("port") = 1;
    net.append_attribute("gdr") = 1;
  }

  Machine const& machine_;
  NcclDetail detail_;
  PciLayout layout_;
  std::vector<std::set<int>> cores_;  // by NUMA node
  std::vector<bool> needed_;          // of layout_.functions
  std::size_t gpus_ = 0, nics_ = 0;
};

// Bytes a second of the narrowest hop of a ring, by a kernel.
BytesPerSecond narrowest(Model const& model, std::vector<Place> const& gpus, std::vector<std::size_t> const& ring) {
  Planner const planner(model);
  auto least = kUnlimited;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    Request const request{"", gpus[ring[i]], gpus[ring[(i + 1) % ring.size()]], Bytes(64 << 20), Op::Write};
    auto const choice = planner.choose(request);
    if (!choice.chosen) throw PlanError("GPUs of the ring have no way to one another");
    auto const& found = choice.evaluated[*choice.chosen];
    if (found.cost) least = std::min(least, found.cost->rate);
  }
  return least;
}

}  // namespace

std::string nccl_topology_xml(Machine const& machine, NcclDetail detail) {
  return TopologyWriter(machine, detail).write();
}

std::string nccl_graph_xml(Model const& model) {
  auto const& machine = model.machine();
  if (machine.hosts.size() > 1) throw PlanError("NCCL_GRAPH_FILE is of one node: name the machine of a node");
  auto const gpus = collective_of_all(machine, CollectiveOp::AllReduce, Bytes(1)).among;
  if (gpus.size() < 2) throw PlanError("a ring has at least two GPUs");
  std::vector<PciId> ids;
  for (auto const& gpu : gpus) ids.push_back(std::get<PciId>(gpu));
  nccl::Topology const topology(machine, ids, Library{}, machine.library_environment);
  auto const& block = figures::block(machine.part_of(ids.front()));
  std::vector<std::vector<std::size_t>> channels;
  double rate = 0;
  for (auto const& ring : disjoint_rings(machine, gpus)) {
    auto const hop = narrowest(model, gpus, ring);
    auto const count = std::max(1.0, std::ceil(hop / block.simple));
    rate = rate > 0 ? std::min(rate, hop.value() / count) : hop.value() / count;
    channels.insert(channels.end(), static_cast<std::size_t>(count), ring);
  }
  auto farthest = nccl::PathType::Local;
  for (auto const& ring : channels)
    for (std::size_t i = 0; i < ring.size(); ++i)
      farthest = std::max(farthest, topology.between(ring[i], ring[(i + 1) % ring.size()]).type);
  pugi::xml_document document;
  auto graphs = document.append_child("graphs");
  graphs.append_attribute("version") = 1;
  auto graph = graphs.append_child("graph");
  graph.append_attribute("id") = 0;
  graph.append_attribute("pattern") = 4;  // NCCL_TOPO_PATTERN_RING
  graph.append_attribute("crossnic") = 0;
  graph.append_attribute("nchannels") = static_cast<unsigned>(channels.size());
  graph.append_attribute("speedintra") = fmt::format("{:.1f}", rate / 1e9).c_str();
  graph.append_attribute("speedinter") = fmt::format("{:.1f}", rate / 1e9).c_str();
  graph.append_attribute("latencyinter") = "0";
  graph.append_attribute("typeintra") = std::string(to_string(farthest)).c_str();
  graph.append_attribute("typeinter") = "PIX";
  graph.append_attribute("samechannels") = 0;
  for (auto const& ring : channels) {
    auto channel = graph.append_child("channel");
    for (auto const gpu : ring) channel.append_child("gpu").append_attribute("dev") = fmt::format("{:x}", gpu).c_str();
  }
  return text_of(document);
}

}  // namespace lanewise
