#include "core/interop/exports/hwloc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <pugixml.hpp>
#include <set>
#include <sstream>

#include "core/interop/exports/exported_ids.hpp"
#include "core/interop/exports/hwloc_distances.hpp"
#include "core/interop/exports/pci_layout.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

// GB/s of a link as hwloc counts it: the rate of its lanes without their encoding (hwloc/pci-common.c).
double hwloc_rate(PcieLink link) {
  auto const raw = gigatransfers_per_second(link.generation) * link.width / 8;
  return raw * (link.generation < 3 ? 0.8 : link.generation < 6 ? 128.0 / 130 : 242.0 / 256);
}

// "0x00000003,0xffffffff".
std::string bitmap(std::set<int> const& numbers) { return numbers.empty() ? "0x0" : mask_text(numbers, "0x"); }

class HwlocWriter {
 public:
  explicit HwlocWriter(Machine const& machine)
      : machine_(machine), layout_(pci_layout(machine)), cores_(exported_cores(machine)) {}

  std::string write() {
    pugi::xml_document document;
    auto declaration = document.append_child(pugi::node_declaration);
    declaration.append_attribute("version") = "1.0";
    declaration.append_attribute("encoding") = "UTF-8";
    document.append_child(pugi::node_doctype).set_value("topology SYSTEM \"hwloc2.dtd\"");
    auto topology = document.append_child("topology");
    topology.append_attribute("version") = "2.0";
    auto root = object(topology, "Machine");
    root.append_attribute("os_index") = 0;
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < machine_.numa_nodes.size(); ++i) all.push_back(i);
    set_cores(root, all);
    info(root, "Backend", "lanewise");
    for (std::size_t i = 0; i < machine_.sockets.size(); ++i) add_package(root, SocketId(i));
    add_nvswitch(root);
    add_hwloc_distances(machine_, {gpus_, nvswitch_}, topology);
    std::ostringstream text;
    document.save(text, "  ");
    return text.str();
  }

 private:
  using Node = pugi::xml_node;

  Node object(Node parent, std::string const& type) {
    auto node = parent.append_child("object");
    node.append_attribute("type") = type.c_str();
    node.append_attribute("gp_index") = ++last_index_;
    return node;
  }
  static void info(Node node, std::string const& name, std::string const& value) {
    auto child = node.append_child("info");
    child.append_attribute("name") = name.c_str();
    child.append_attribute("value") = value.c_str();
  }

  // The sets of an object that holds these NUMA nodes.
  void set_cores(Node node, std::vector<std::size_t> const& numas) {
    std::set<int> cores;
    std::set<int> nodes;
    for (auto const i : numas) {
      cores.insert(cores_[i].begin(), cores_[i].end());
      nodes.insert(machine_.numa_nodes[i].os_index);
    }
    set_cores(node, cores, nodes);
  }
  static void set_cores(Node node, std::set<int> const& cores, std::set<int> const& nodes) {
    for (auto const* name : {"cpuset", "complete_cpuset"}) node.append_attribute(name) = bitmap(cores).c_str();
    if (std::string_view(node.attribute("type").value()) == "Machine")
      node.append_attribute("allowed_cpuset") = bitmap(cores).c_str();
    for (auto const* name : {"nodeset", "complete_nodeset"}) node.append_attribute(name) = bitmap(nodes).c_str();
    if (std::string_view(node.attribute("type").value()) == "Machine")
      node.append_attribute("allowed_nodeset") = bitmap(nodes).c_str();
  }

  void add_package(Node root, SocketId socket) {
    std::vector<std::size_t> numas;
    for (std::size_t i = 0; i < machine_.numa_nodes.size(); ++i)
      if (machine_.numa_nodes[i].socket == socket) numas.push_back(i);
    auto package = object(root, "Package");
    package.append_attribute("os_index") = static_cast<unsigned>(index(socket));
    set_cores(package, numas);
    if (auto const* part = machine_.part_of(socket); part != nullptr) {
      info(package, "CPUModel", part->title.empty() ? part->name : part->title);
      add_cpuid(package, *part);
    }
    // Several NUMA nodes of a package are groups of cores.
    for (auto const i : numas) {
      auto holder = package;
      if (numas.size() > 1) {
        holder = object(package, "Group");
        holder.append_attribute("kind") = 0;
        holder.append_attribute("subkind") = 0;
        set_cores(holder, {i});
      }
      add_numa(holder, i);
    }
  }

  static void add_cpuid(Node package, Part const& part) {
    if (part.cpu.cpuid.empty()) return;
    auto const words = split_cpuid(part.cpu.cpuid.front());
    info(package, "CPUVendor", words.vendor);
    info(package, "CPUFamilyNumber", words.family);
    info(package, "CPUModelNumber", words.model);
  }

  void add_numa(Node holder, std::size_t i) {
    auto node = object(holder, "NUMANode");
    node.append_attribute("os_index") = machine_.numa_nodes[i].os_index;
    set_cores(node, {i});
    node.append_attribute("local_memory") = 0;
    for (auto const core : cores_[i]) {
      auto const numa = std::set<int>{machine_.numa_nodes[i].os_index};
      auto outer = object(holder, "Core");
      outer.append_attribute("os_index") = core;
      set_cores(outer, {core}, numa);
      auto inner = object(outer, "PU");
      inner.append_attribute("os_index") = core;
      set_cores(inner, {core}, numa);
    }
    for (std::size_t bridge = 0; bridge < machine_.host_bridges.size(); ++bridge)
      if (index(machine_.host_bridges[bridge].numa) == i) add_host_bridge(holder, HostBridgeId(bridge));
  }

  void add_host_bridge(Node holder, HostBridgeId id) {
    int last = 0;
    bool any = false;
    for (auto const& function : layout_.functions) {
      any = any || function.bridge == id;
      if (function.bridge == id) last = std::max(last, function.subordinate);
    }
    if (!any) return;
    auto const& bus = layout_.root_buses[index(id)];
    auto bridge = object(holder, "Bridge");
    bridge.append_attribute("bridge_type") = "0-1";
    bridge.append_attribute("depth") = 0;
    bridge.append_attribute("bridge_pci") =
        fmt::format("{}:[{}-{}]", bus.substr(0, 4), bus.substr(5), fmt::format("{:02x}", last)).c_str();
    for (std::size_t i = 0; i < layout_.functions.size(); ++i)
      if (layout_.functions[i].bridge == id && !layout_.functions[i].parent) add_function(bridge, i, 1);
  }

  void add_function(Node above, std::size_t i, int depth) {
    auto const& entry = layout_.functions[i];
    bool const bridge = entry.port != ExportedPort::Endpoint;
    auto const ids = exported_ids(machine_, entry);
    auto node = object(above, bridge ? "Bridge" : "PCIDev");
    if (bridge) {
      node.append_attribute("bridge_type") = "1-1";
      node.append_attribute("depth") = depth;
      node.append_attribute("bridge_pci") =
          fmt::format("{}:[{:02x}-{:02x}]", entry.bdf.substr(0, 4), entry.secondary, entry.subordinate).c_str();
    }
    node.append_attribute("pci_busid") = entry.bdf.c_str();
    node.append_attribute("pci_type") = fmt::format("{:04x} [{}] [0000:0000] 00", ids.class_code >> 8U, ids.id).c_str();
    auto const link = exported_link(machine_, entry);
    node.append_attribute("pci_link_speed") = fmt::format("{:f}", link ? hwloc_rate(*link) : 0.0).c_str();
    if (!bridge) add_os_device(node, entry.function);
    for (std::size_t child = i + 1; child < layout_.functions.size(); ++child)
      if (layout_.functions[child].parent == i) add_function(node, child, depth + 1);
  }

  Node os_device(Node above, std::string const& name, int type, char const* subtype) {
    auto node = object(above, "OSDev");
    node.append_attribute("name") = name.c_str();
    if (subtype != nullptr) node.append_attribute("subtype") = subtype;
    node.append_attribute("osdev_type") = std::to_string(type).c_str();
    return node;
  }

  void add_os_device(Node above, PciId id) {
    constexpr int kBlock = 0;
    constexpr int kGpu = 1;
    constexpr int kOpenFabrics = 3;
    auto const& function = machine_.at(id);
    auto const* part = machine_.part_of(id);
    switch (function.kind) {
      case PciKind::Gpu: {
        bool const amd = part != nullptr && part->gpu.vendor == "amd";
        auto const number = gpus_.size();
        auto node = os_device(above, fmt::format("{}{}", amd ? "rsmi" : "nvml", number), kGpu, amd ? "RSMI" : "NVML");
        info(node, "Backend", amd ? "RSMI" : "NVML");
        info(node, "GPUVendor", amd ? "AMD" : "NVIDIA Corporation");
        if (part != nullptr) info(node, "GPUModel", part->title.empty() ? part->name : part->title);
        gpus_.emplace(id, last_index_);
        break;
      }
      case PciKind::Nic: {
        auto node = os_device(above, function.device_name.empty() ? function.name : function.device_name, kOpenFabrics,
                              nullptr);
        info(node, "Backend", "Linux");
        break;
      }
      case PciKind::Nvme: os_device(above, fmt::format("nvme{}n1", drives_++), kBlock, "Disk"); break;
      default: break;
    }
  }

  // All NVSwitches of a host are one crossbar; it stands on a root bus of its own.
  void add_nvswitch(Node root) {
    if (machine_.nvswitches.empty()) return;
    std::set<std::string> taken(layout_.root_buses.begin(), layout_.root_buses.end());
    for (auto const& entry : layout_.functions) taken.insert(entry.bdf.substr(0, 7));
    int bus = 0xff;
    while (bus > 0 && taken.contains(fmt::format("0000:{:02x}", bus))) --bus;
    auto bridge = object(root, "Bridge");
    bridge.append_attribute("bridge_type") = "0-1";
    bridge.append_attribute("depth") = 0;
    bridge.append_attribute("bridge_pci") = fmt::format("0000:[{0:02x}-{0:02x}]", bus).c_str();
    auto node = object(bridge, "PCIDev");
    node.append_attribute("pci_busid") = fmt::format("0000:{:02x}:00.0", bus).c_str();
    auto const& ids = machine_.at(machine_.nvswitches.front().part).pci_ids;
    node.append_attribute("pci_type") =
        fmt::format("0680 [{}] [0000:0000] 00", ids.empty() ? "10de:0000" : ids.front()).c_str();
    node.append_attribute("pci_link_speed") = "0.000000";
    nvswitch_ = last_index_;
  }

  Machine const& machine_;
  PciLayout layout_;
  std::vector<std::set<int>> cores_;   // by NUMA node
  std::map<PciId, std::size_t> gpus_;  // gp_index of the OS device
  std::size_t nvswitch_ = 0;           // gp_index; 0: none
  std::size_t last_index_ = 0;
  int drives_ = 0;
};

}  // namespace

std::string hwloc_xml(Machine const& machine) { return HwlocWriter(machine).write(); }

}  // namespace lanewise
