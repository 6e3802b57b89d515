#include "core/interop/host/files/hwloc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include "core/interop/host/files/hwloc_distances.hpp"
#include "core/interop/host/files/hwloc_links.hpp"
#include "core/interop/host/files/hwloc_sets.hpp"
#include "core/interop/host/platform_hints.hpp"
#include "core/interop/load_xml.hpp"
#include "core/interop/machines/roles.hpp"
#include "core/interop/xml_diagnostic.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

constexpr int kMaxNesting = 128;
constexpr std::size_t kMaxPciObjects = 16'384;
constexpr std::size_t kMaxNumaNodes = 1024;

std::string_view text(pugi::xml_node node, char const* name) { return node.attribute(name).as_string(); }
std::string_view info(pugi::xml_node object, std::string_view name) {
  for (auto const entry : object.children("info"))
    if (text(entry, "name") == name) return text(entry, "value");
  return {};
}

// What was found on the way down to an object.
struct Place {
  int numa = -1;
  std::string root_bus;
  std::string first_bus;  // the root bus that the host bridge names; empty: no host bridge above
  std::string bridge;     // the PCI bridge above
  bool below_host_bridge = false;
};

class HwlocReader {
 public:
  explicit HwlocReader(SourceText const& source) : source_(source) {}

  HostFacts read() {
    pugi::xml_document document;
    load_xml(source_, 0, pugi::parse_default, document);
    auto const topology = document.document_element();
    if (std::string_view(topology.name()) != "topology")
      refuse_xml(source_, topology.offset_debug(),
                 fmt::format("the root element is <{}>; hwloc's XML begins with <topology>", topology.name()));
    facts_.source = "hwloc";
    facts_.lists_nics = false;
    facts_.shows_config = false;
    facts_.says_software = false;
    facts_.links_may_sleep = true;
    facts_.lists_nvlinks = false;
    read_version(topology);
    for (auto const object : topology.children("object")) visit(object, {}, 0);
    finish_nodes();
    infer_hwloc_links(speeds_, facts_);
    read_hwloc_distances(topology, places_, facts_);
    note_what_is_missing();
    return std::move(facts_);
  }

 private:
  void read_version(pugi::xml_node topology) {
    auto const version = text(topology, "version");  // version 1 has none
    masks_ = version.starts_with("3");
    if (!version.empty() && version.front() != '1' && version.front() != '2' && version.front() != '3')
      facts_.notes.push_back(fmt::format("the file is version '{}' of hwloc's XML; 1 to 3 are known", version));
  }

  void visit(pugi::xml_node object, Place place, int depth) {
    if (depth == kMaxNesting) {
      facts_.notes.push_back(fmt::format("objects nested deeper than {} are left out", kMaxNesting));
      return;
    }
    auto const type = text(object, "type");
    if (type == "Machine" || type == "System") read_machine(object);
    if (type == "Package" || type == "Socket") read_package(object);
    if (type == "NUMANode" || type == "Node") place.numa = read_numa(object, place.numa);
    if (auto const nodes = hwloc_set(text(object, "nodeset")); nodes.size() == 1 && !place.below_host_bridge)
      place.numa = nodes.front();
    if (type == "Bridge") read_bridge(object, place);
    if (type == "PCIDev") read_device(object, place);
    for (auto const child : object.children("object")) visit(child, place, depth + 1);
  }

  // ------------------------------------------------------------------------------------------- the host and its CPUs
  void read_machine(pugi::xml_node object) {
    facts_.platform.product = info(object, "DMIProductName");
    if (auto const version = info(object, "DMIBIOSVersion"); !version.empty()) {
      auto const maker = info(object, "DMIBIOSVendor");
      facts_.platform.firmware = fmt::format("{}{}{}", maker, maker.empty() ? "" : " ", version);
    }
    auto const vendor = info(object, "DMISysVendor");
    auto const product = info(object, "DMIProductName");
    // What firmware of virtual machines calls itself; systemd, src/basic/virt.c, has the same list.
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kVendors{
        {{"QEMU", "kvm"}, {"VMware", "vmware"}, {"Xen", "xen"}, {"Google", "kvm"}}};
    for (auto const& [name, hypervisor] : kVendors)
      if (vendor.starts_with(name)) set_hypervisor(hypervisor);
    if (vendor == "Amazon EC2" && product.find("metal") == std::string_view::npos) set_hypervisor("kvm");
    if (vendor == "Microsoft Corporation" && product == "Virtual Machine") set_hypervisor("hyperv");
    read_cpu(object);
  }
  void set_hypervisor(std::string_view name) {
    facts_.cpu.hypervisor = true;
    facts_.platform.hypervisor = name;
  }

  void read_cpu(pugi::xml_node object) {
    auto& cpu = facts_.cpu;
    if (cpu.model_name.empty()) cpu.model_name = info(object, "CPUModel");
    auto const vendor = info(object, "CPUVendor");
    auto const family = info(object, "CPUFamilyNumber");
    auto const model = info(object, "CPUModelNumber");
    if (cpu.cpuid.empty() && !vendor.empty() && !family.empty() && !model.empty())
      cpu.cpuid = fmt::format("{}/{}/{}", vendor, family, model);
  }

  struct Package {
    int number = 0;
    std::vector<int> cpus;
  };
  void read_package(pugi::xml_node object) {
    read_cpu(object);
    if (packages_.size() == kMaxNumaNodes) return;
    packages_.push_back({static_cast<int>(packages_.size()), hwloc_set(text(object, "cpuset"))});
  }

  int read_numa(pugi::xml_node object, int above) {
    int number = -1;
    auto const index = text(object, "os_index");
    auto const [end, error] = std::from_chars(index.data(), index.data() + index.size(), number);
    if (error != std::errc() || number < 0 || number > 65'535) return above;
    if (nodes_.size() < kMaxNumaNodes) nodes_.emplace(number, hwloc_set(text(object, "cpuset")));
    return number;
  }

  // NUMA nodes without cores (of GPUs, of slow memory) are no place for a socket.
  void finish_nodes() {
    for (auto const& [number, cpus] : nodes_) {
      if (cpus.empty()) {
        facts_.notes.push_back(fmt::format("NUMA node {} has no cores; left out", number));
        continue;
      }
      NumaFacts node{number, ranges_of(cpus), {}};
      for (auto const& package : packages_)
        if (std::find_first_of(cpus.begin(), cpus.end(), package.cpus.begin(), package.cpus.end()) != cpus.end())
          node.packages.push_back(package.number);
      facts_.cpu.nodes.push_back(std::move(node));
    }
    if (!facts_.cpu.nodes.empty()) return;
    // Without NUMA nodes (version 1 leaves out a single one), a socket has one each.
    for (auto const& package : packages_)
      facts_.cpu.nodes.push_back({package.number, ranges_of(package.cpus), {package.number}});
    infer_sockets(facts_);
  }

  // ----------------------------------------------------------------------------------------------------------- PCI
  void read_bridge(pugi::xml_node object, Place& place) {
    if (text(object, "bridge_type").starts_with("0-")) {  // a host bridge: "0000:[2b-3b]"
      auto const range = text(object, "bridge_pci");
      auto const bracket = range.find(":[");
      if (bracket != std::string_view::npos && range.size() >= bracket + 4)
        if (auto bus = fmt::format("{}:{}", range.substr(0, bracket), range.substr(bracket + 2, 2));
            is_pci_address(bus + ":00.0"))
          place.root_bus = std::move(bus);
      place.first_bus = place.root_bus;
      place.bridge.clear();
      place.below_host_bridge = true;
      return;
    }
    if (auto const* bridge = add(object, place); bridge != nullptr) {
      place.bridge = bridge->bdf;
      place.below_host_bridge = true;
    }
  }

  PciFacts* add(pugi::xml_node object, Place const& place) {
    std::string const bdf(text(object, "pci_busid"));
    if (!is_pci_address(bdf) || facts_.pci.size() == kMaxPciObjects) {
      facts_.notes.push_back(fmt::format("the bus id '{}' is no PCI address; left out", cut(bdf, 32)));
      return nullptr;
    }
    if (!seen_.insert(bdf).second) {
      facts_.notes.push_back(fmt::format("{} is in the file twice; the first is taken", bdf));
      return nullptr;
    }
    PciFacts function;
    function.bdf = bdf;
    function.above = place.bridge;
    auto const bus = bdf.substr(0, bdf.rfind(':'));
    function.root_bus = place.root_bus.empty() ? bus : place.root_bus;
    function.numa = place.numa;
    // Without the bridges between (a filter of lstopo), nobody knows what it hangs from.
    function.above_unknown = place.bridge.empty() && !place.first_bus.empty() && bus != place.first_bus;
    read_type(text(object, "pci_type"), function);
    auto const maker = info(object, "PCIVendor");
    auto const device = info(object, "PCIDevice");
    function.product =
        maker.empty() || device.empty() ? std::string(text(object, "name")) : fmt::format("{} {}", maker, device);
    function.slot = info(object, "PCISlot");
    auto const speed = object.attribute("pci_link_speed").as_double(0);
    if (speed > 0) speeds_.emplace(bdf, speed);
    facts_.pci.push_back(std::move(function));
    return &facts_.pci.back();
  }

  // "0302 [10de:1db8] [10de:131d] a1 00"
  static void read_type(std::string_view type, PciFacts& function) {
    constexpr std::size_t kPciIdSize = 9;
    unsigned code = 0;
    auto const digits = type.substr(0, 4);
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error == std::errc() && end == digits.data() + digits.size()) function.class_code = code << 8U;
    auto const bracket = type.find('[');
    if (bracket == std::string_view::npos || type.size() <= bracket + kPciIdSize + 1) return;
    auto const id = type.substr(bracket + 1, kPciIdSize);
    bool const whole = id[4] == ':' && type[bracket + kPciIdSize + 1] == ']';
    if (whole) function.id = id;
  }

  void read_device(pugi::xml_node object, Place& place) {
    auto const* function = add(object, place);
    if (function == nullptr) return;
    auto const bdf = function->bdf;
    if (function->class_code >> 8U == 0x0680)
      places_.insert({std::string(gp(object)), {HwlocPlace::Kind::Switch, bdf, ""}});
    for (auto const child : object.children("object"))
      if (text(child, "type") == "OSDev") read_os_device(child, bdf);
  }
  static std::string_view gp(pugi::xml_node object) { return text(object, "gp_index"); }

  // Version 1 and 2 number the kinds of devices (1 GPU, 2 network, 3 OpenFabrics, 5 co-processor), version 3 has a bit
  // for each.
  void read_os_device(pugi::xml_node object, std::string const& bdf) {
    auto const type = object.attribute("osdev_type").as_uint(~0U);
    bool const network = masks_ ? (type & 16U) != 0 : type == 2;
    bool const fabric = masks_ ? (type & 32U) != 0 : type == 3;
    auto const name = text(object, "name");
    if (network || fabric) {
      NicFacts nic;
      nic.name = cut(name, 64);
      nic.bdf = bdf;
      nic.rdma = fabric || text(object, "subtype") == "Slingshot";
      nic.guid = info(object, "NodeGUID");
      nic.up = info(object, "Port1State") == "4";
      facts_.nics.push_back(std::move(nic));
      return;
    }
    auto const model = info(object, "GPUModel");
    if (model.empty()) return;
    if (info(object, "GPUVendor") == "AMD" || text(object, "subtype") == "RSMI") {
      places_.insert({std::string(gp(object)), {HwlocPlace::Kind::Gpu, bdf, ""}});
      return;
    }
    places_.insert(
        {std::string(gp(object)), {HwlocPlace::Kind::Gpu, bdf, std::string(info(object, "CUDAComputeCapability"))}});
    read_nvidia_gpu(object, bdf, model);
  }

  // A GPU has an object for each of NVML, CUDA and OpenCL.
  void read_nvidia_gpu(pugi::xml_node object, std::string const& bdf, std::string_view model) {
    auto& gpus = facts_.nvml.gpus;
    auto known = std::find_if(gpus.begin(), gpus.end(), [&](NvmlGpu const& gpu) { return gpu.bdf == bdf; });
    if (known == gpus.end()) {
      gpus.push_back({});
      known = gpus.end() - 1;
      known->bdf = bdf;
      known->name = model;
    }
    if (known->uuid.empty()) known->uuid = info(object, "NVIDIAUUID");
  }

  void note_what_is_missing() {
    facts_.notes.emplace_back("hwloc's XML has no ACS and no IOMMU; 'sudo lspci -vvv' shows ACS");
    if (facts_.pci.empty())
      facts_.notes.emplace_back(
          "the file has no PCI devices: lstopo left them out (--no-io, a container, or a build without libpciaccess)");
    if (facts_.cpu.nodes.size() > 1 &&
        std::any_of(facts_.pci.begin(), facts_.pci.end(), [](auto const& function) { return function.numa < 0; }))
      facts_.notes.emplace_back("the file does not say which NUMA node some PCI devices are near");
  }

  SourceText const& source_;
  HostFacts facts_;
  bool masks_ = false;
  std::map<int, std::vector<int>> nodes_;  // NUMA nodes and their CPUs
  std::vector<Package> packages_;
  std::set<std::string> seen_;
  std::map<std::string, double> speeds_;  // GB/s, by address
  std::map<std::string, HwlocPlace> places_;
};

}  // namespace

Likeness recognise_hwloc(std::string_view text) {
  auto const has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  if (!has("<topology")) return Likeness::None;
  return has("<object type=\"Machine\"") || has("hwloc") || has("<object type=\"System\"") ? Likeness::Certain
                                                                                           : Likeness::Possible;
}

HostFacts read_hwloc(SourceText const& source) { return HwlocReader(source).read(); }

}  // namespace lanewise
