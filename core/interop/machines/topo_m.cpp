#include "core/interop/machines/topo_m.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/topo_groups.hpp"
#include "core/interop/machines/topo_matrix.hpp"
#include "core/io/spelling.hpp"

namespace lanewise {
namespace {

// A NUMA node with its devices.
struct NumaDomain {
  DeviceGroup devices;
  std::optional<int> numa;  // as in the table
  std::string cores;
};

class TopoImporter {
 public:
  TopoImporter(TopoMatrix const& matrix, SourceText const& source, TopoOptions const& options, Catalogue& catalogue)
      : matrix_(matrix),
        source_(source),
        options_(options),
        builder_(machine_name_from(source.name()), catalogue),
        ids_(matrix.devices.size()) {}

  Machine import() {
    check_part(options_.gpu, PartKind::Gpu);
    check_part(options_.cpu, PartKind::Cpu);
    check_part(options_.nic, PartKind::Nic);
    check_nvlink_ports();
    builder_.note(
        "the table does not say: parts that were not named, PCIe links, root ports, ACS, IOMMU; switches are inferred "
        "from PIX and PXB");
    name_devices();
    note_hidden_distances();
    auto const domains = numbered(numa_domains());
    if (domains.size() > 1)
      builder_.note("inferred: each NUMA node is a socket; the table does not say which share one");
    for (auto const& domain : domains) add_domain(domain);
    builder_.add_usual_socket_links();
    add_nvlinks();
    return builder_.take();
  }

 private:
  // --------------------------------------------------------------------------------------------------------- parts
  void check_part(std::string const& name, PartKind kind) {
    if (name.empty()) return;
    auto const* part = builder_.catalogue().part(name);
    if (part != nullptr && part->kind == kind) return;
    throw InputError(
        part == nullptr
            ? fmt::format("no part is called '{}'{}", name, did_you_mean(name, builder_.catalogue().part_names()))
            : fmt::format("the part '{}' is a {}, but a {} is needed", name, to_string(part->kind), to_string(kind)));
  }
  [[nodiscard]] Part const* gpu_part() {
    return options_.gpu.empty() ? nullptr : builder_.catalogue().part(options_.gpu);
  }

  void check_nvlink_ports() {
    auto const* gpu = gpu_part();
    if (gpu == nullptr || gpu->gpu.vendor != "nvidia" || is_switched()) return;
    Diagnostics diagnostics;
    for (std::size_t i = 0; i < matrix_.devices.size(); ++i) {
      auto const links = std::accumulate(matrix_.cells[i].begin(), matrix_.cells[i].end(), 0,
                                         [](int sum, auto const& cell) { return sum + cell.nvlinks; });
      auto const line = matrix_.devices[i].line;
      if (links > gpu->gpu.nvlink_ports)
        diagnostics.add({source_.name(), line, 1},
                        fmt::format("{} has {} NVLinks, but '{}' has {} ports", matrix_.devices[i].label, links,
                                    gpu->name, gpu->gpu.nvlink_ports),
                        source_.line(line));
    }
    diagnostics.throw_if_any();
  }

  // --------------------------------------------------------------------------------------------------------- names
  void name_devices() {
    auto const is_numbered = [](TopoMatrix::Device const& device) {
      return device.gpu || (device.label.starts_with("NIC") && device.device_name != device.label);
    };
    bool const numbered_nics = std::all_of(matrix_.devices.begin(), matrix_.devices.end(), is_numbered);
    for (auto const& device : matrix_.devices) {
      if (device.gpu)
        names_.push_back("gpu" + device.label.substr(3));
      else
        names_.push_back(numbered_nics ? "nic" + device.label.substr(3) : builder_.next_name(PciKind::Nic));
    }
  }

  // Notes GPUs for which the table prints NVLink instead of every distance below SYS.
  void note_hidden_distances() {
    std::vector<std::string> hidden;
    for (auto const& group : groups_within(matrix_, all_devices(matrix_), PathClass::Node))
      if (group.size() == 1 && std::any_of(matrix_.cells[group[0]].begin(), matrix_.cells[group[0]].end(),
                                           [](auto const& cell) { return cell.nvlinks > 0; }))
        hidden.push_back(names_[group[0]]);
    if (!hidden.empty())
      builder_.note(
          fmt::format("inferred: NVLink stands in place of the PCIe distance of {}; each has a root port of its own on "
                      "its NUMA node",
                      fmt::join(hidden, ", ")));
  }

  // --------------------------------------------------------------------------------------------------- NUMA nodes
  // Devices nearer than SYS share a NUMA node. So do groups of the same affinity, unless the table prints SYS between
  // them.
  std::vector<NumaDomain> numa_domains() {
    std::vector<NumaDomain> domains;
    for (auto const& group : groups_within(matrix_, all_devices(matrix_), PathClass::Node)) {
      auto const given = affinity_of(group);
      auto const joins = std::find_if(domains.begin(), domains.end(), [&](NumaDomain const& d) {
        return d.numa == given.numa && (given.numa || d.cores == given.cores) && !parted(d.devices, group);
      });
      if (joins == domains.end()) {
        domains.push_back(given);
        continue;
      }
      joins->devices.insert(joins->devices.end(), group.begin(), group.end());
      if (joins->cores.empty()) joins->cores = given.cores;
    }
    for (auto& domain : domains) std::sort(domain.devices.begin(), domain.devices.end());
    return domains;
  }

  NumaDomain affinity_of(DeviceGroup const& group) {
    NumaDomain given{group, {}, {}};
    for (auto const i : group) {
      auto const& device = matrix_.devices[i];
      if (!given.numa) given.numa = device.numa;
      if (given.cores.empty()) given.cores = device.cores;
      if (device.numa && device.numa != given.numa)
        builder_.note(fmt::format("{} has another NUMA affinity than {}, but they are not SYS; the distance is taken",
                                  names_[i], names_[group[0]]));
    }
    return given;
  }

  [[nodiscard]] bool parted(DeviceGroup const& a, DeviceGroup const& b) const {
    return std::any_of(a.begin(), a.end(), [&](auto const x) {
      return std::any_of(b.begin(), b.end(), [&](auto const y) { return matrix_.at(x, y).path.has_value(); });
    });
  }

  // Gives every domain a different NUMA number, and sorts them by it.
  std::vector<NumaDomain> numbered(std::vector<NumaDomain> domains) {
    std::set<int> used;
    for (auto& domain : domains)
      if (domain.numa && !used.insert(*domain.numa).second) {
        builder_.note(fmt::format(
            "NUMA node {} is named for devices that are SYS to each other; some get another number", *domain.numa));
        domain.numa.reset();
      }
    for (auto& domain : domains) {
      if (domain.numa) continue;
      int free = 0;
      while (used.contains(free)) ++free;
      domain.numa = *used.insert(free).first;
    }
    std::sort(domains.begin(), domains.end(), [](NumaDomain const& a, NumaDomain const& b) { return a.numa < b.numa; });
    return domains;
  }

  // ---------------------------------------------------------------------------------------------------------- tree
  void add_domain(NumaDomain const& domain) {
    auto const socket = builder_.add_socket(options_.cpu, *domain.numa, domain.cores);
    auto const host_bridges = groups_within(matrix_, domain.devices, PathClass::Phb);
    for (std::size_t i = 0; i < host_bridges.size(); ++i) {
      auto const bridge = builder_.host_bridge(socket, fmt::format("{}.hb{}", builder_.machine().at(socket).name, i));
      for (auto const& tree : groups_within(matrix_, host_bridges[i], PathClass::Pxb)) add_tree(tree, bridge);
    }
  }

  // Adds what is below one root port: a device, a switch, or a switch with switches below it.
  void add_tree(DeviceGroup const& devices, HostBridgeId bridge) {
    auto const root_port = builder_.add_root_port(builder_.next_name(PciKind::RootPort), bridge);
    if (devices.size() == 1) return add_device(devices[0], root_port, bridge);
    auto const switches = groups_within(matrix_, devices, PathClass::Pix);
    auto const top = add_switch(root_port, bridge);
    for (auto const& group : switches) {
      auto const above = switches.size() == 1 ? top : add_switch(top, bridge);
      for (auto const device : group) add_device(device, above, bridge);
    }
  }

  PciId add_switch(PciId parent, HostBridgeId bridge) {
    PciFunction function;
    function.kind = PciKind::Switch;
    function.name = builder_.next_name(PciKind::Switch);
    function.parent = parent;
    function.host_bridge = bridge;
    return builder_.add(std::move(function));
  }

  void add_device(std::size_t device, PciId parent, HostBridgeId bridge) {
    auto const& given = matrix_.devices[device];
    PciFunction function;
    function.kind = given.gpu ? PciKind::Gpu : PciKind::Nic;
    function.name = names_[device];
    function.parent = parent;
    function.host_bridge = bridge;
    function.part = given.gpu ? builder_.part(options_.gpu, PartKind::Gpu) : builder_.part(options_.nic, PartKind::Nic);
    function.device_name = given.device_name;
    ids_[device] = builder_.add(std::move(function));
  }

  // -------------------------------------------------------------------------------------------------------- NVLink
  [[nodiscard]] DeviceGroup gpus() const {
    auto all = all_devices(matrix_);
    std::erase_if(all, [&](auto const i) { return !matrix_.devices[i].gpu; });
    return all;
  }

  // Whether the GPUs are joined by NVSwitches: three or more GPUs, the same number of links between all pairs, and that
  // number is either all links of a GPU (those of the given part, or 6 of a V100, 12 of an A100, 18 of an H100) or so
  // large that no GPU has enough ports for direct links to all others.
  [[nodiscard]] bool is_switched() {
    auto const all = gpus();
    constexpr int kMaxPorts = 18;
    if (all.size() < 3) return false;
    auto const links = matrix_.at(all[0], all[1]).nvlinks;
    for (auto const a : all)
      for (auto const b : all)
        if (a != b && matrix_.at(a, b).nvlinks != links) return false;
    auto const* gpu = gpu_part();
    bool const uses_all_ports =
        gpu != nullptr ? links == gpu->gpu.nvlink_ports : links == 6 || links == 12 || links == 18;
    auto const needed = links * (static_cast<int>(all.size()) - 1);
    return links > 0 && (uses_all_ports || needed > kMaxPorts);
  }

  void add_nvlinks() {
    auto const all = gpus();
    auto const* gpu = gpu_part();
    auto const generation = gpu == nullptr ? 0 : gpu->gpu.nvlink_generation;
    if (is_switched()) {
      std::vector<NvSwitch::Port> ports;
      for (auto const i : all) ports.push_back({ids_[i], matrix_.at(all[0], all[1]).nvlinks});
      builder_.note(
          fmt::format("inferred: NVSwitches, for all pairs of GPUs have {} NVLinks, which is every link that a GPU has",
                      ports[0].count));
      return builder_.add_nvswitch(generation, std::move(ports));
    }
    for (auto const a : all)
      for (auto const b : all)
        if (auto const links = matrix_.at(a, b).nvlinks; a < b && links > 0)
          builder_.add_nvlink(ids_[a], ids_[b],
                              builder_.nvlink_part(generation, gpu == nullptr ? std::string() : gpu->gpu.chip), links);
  }

  TopoMatrix const& matrix_;
  SourceText const& source_;
  TopoOptions const& options_;
  MachineBuilder builder_;
  std::vector<std::string> names_;
  std::vector<PciId> ids_;  // by device
};

}  // namespace

Machine read_topo_m(SourceText const& source, TopoOptions const& options, Catalogue& catalogue) {
  auto const matrix = read_topo_matrix(source);
  check_tree_exists(matrix, source);
  return TopoImporter(matrix, source, options, catalogue).import();
}

}  // namespace lanewise
