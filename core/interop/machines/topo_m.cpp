#include "core/interop/machines/topo_m.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/p2p_status.hpp"
#include "core/interop/machines/topo_groups.hpp"
#include "core/interop/machines/topo_matrix.hpp"

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
        parts_(options, catalogue),
        builder_(machine_name_from(source.name()), catalogue),
        ids_(matrix.devices.size()) {}

  Machine import() {
    check_nvlink_ports();
    for (auto const& note : matrix_.notes) builder_.note(note);
    note_contradictions();
    builder_.note("the table does not say: PCIe links, root ports, ACS, IOMMU; switches are inferred from PIX and PXB");
    name_devices();
    note_hidden_distances();
    auto const domains = numbered(numa_domains());
    note_sockets(domains);
    for (auto const& domain : domains) add_domain(domain);
    parts_.note_generic(matrix_, !builder_.machine().all(PciKind::Switch).empty(), builder_);
    builder_.add_usual_socket_links();
    add_nvlinks();
    note_p2p_differences();
    return builder_.take();
  }

 private:
  // --------------------------------------------------------------------------------------------------------- checks
  void check_nvlink_ports() {
    auto const* gpu = parts_.named_gpu();
    if (gpu == nullptr || gpu->gpu.vendor != "nvidia") return;
    std::set<std::size_t> switched;
    for (auto const& group : nvlink_groups(matrix_))
      if (joined_by_switches(matrix_, group, parts_.named_gpu())) switched.insert(group.begin(), group.end());
    Diagnostics diagnostics;
    for (std::size_t i = 0; i < matrix_.devices.size(); ++i) {
      auto const& cells = matrix_.cells[i];
      auto const links = switched.contains(i)
                             ? most_nvlinks(matrix_, i)
                             : std::accumulate(cells.begin(), cells.end(), 0,
                                               [](int sum, auto const& cell) { return sum + cell.nvlinks; });
      auto const line = std::max(1, matrix_.devices[i].line);
      if (links > gpu->gpu.nvlink_ports)
        diagnostics.add({source_.name(), line, 1},
                        fmt::format("{} has {} NVLinks, but '{}' has {} ports", matrix_.devices[i].label, links,
                                    gpu->name, gpu->gpu.nvlink_ports),
                        source_.line(line));
    }
    diagnostics.throw_if_any();
  }

  void note_contradictions() {
    constexpr std::size_t kMaxNoted = 8;
    auto const found = contradictions(matrix_);
    for (std::size_t i = 0; i < std::min(kMaxNoted, found.size()); ++i) builder_.note(found[i]);
    if (found.size() > kMaxNoted)
      builder_.note(fmt::format("{} more distances that no PCIe tree can have", found.size() - kMaxNoted));
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
    int free = 0;
    for (auto& domain : domains) {
      if (domain.numa) continue;
      while (used.contains(free)) ++free;
      domain.numa = *used.insert(free).first;
    }
    std::sort(domains.begin(), domains.end(), [](NumaDomain const& a, NumaDomain const& b) { return a.numa < b.numa; });
    return domains;
  }

  // The number of NUMA nodes of a socket. Servers with GPUs have two sockets, and firmware divides each into one, two
  // or four nodes: the highest number tells into how many.
  static int nodes_per_socket(std::vector<NumaDomain> const& domains) {
    constexpr unsigned kMaxNumber = 15;
    auto const highest = domains.empty() ? 0U : static_cast<unsigned>(*domains.back().numa);
    return highest > kMaxNumber ? 1 : static_cast<int>(std::max(1U, std::bit_ceil(highest + 1) / 2));
  }

  void note_sockets(std::vector<NumaDomain> const& domains) {
    if (domains.size() < 2) return;
    per_socket_ = nodes_per_socket(domains);
    builder_.note(
        per_socket_ == 1
            ? std::string("inferred: each NUMA node is a socket; the table does not say which share one")
            : fmt::format("inferred: {} NUMA nodes a socket, for their numbers go up to {} and such boards have "
                          "two sockets; the table does not say which share one",
                          per_socket_, *domains.back().numa));
  }

  // ---------------------------------------------------------------------------------------------------------- tree
  void add_domain(NumaDomain const& domain) {
    auto const number = *domain.numa / per_socket_;
    bool const is_new = !socket_ || number != socket_number_;
    if (is_new) {
      socket_ = builder_.add_socket(parts_.cpu(), *domain.numa, domain.cores);
      bridges_ = 0;
    }
    socket_number_ = number;
    auto const numa = is_new ? NumaId(builder_.machine().numa_nodes.size() - 1)
                             : builder_.add_numa(*socket_, *domain.numa, domain.cores);
    auto const host_bridges = groups_within(matrix_, domain.devices, PathClass::Phb);
    for (auto const& group : host_bridges) {
      auto const& socket = builder_.machine().at(*socket_).name;
      auto const bridge = builder_.host_bridge(*socket_, fmt::format("{}.hb{}", socket, bridges_++), numa);
      for (auto const& tree : groups_within(matrix_, group, PathClass::Pxb)) add_tree(tree, bridge);
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
    function.part = builder_.part(parts_.pcie_switch(), PartKind::Switch);
    return builder_.add(std::move(function));
  }

  void add_device(std::size_t device, PciId parent, HostBridgeId bridge) {
    auto const& given = matrix_.devices[device];
    PciFunction function;
    function.kind = given.gpu ? PciKind::Gpu : PciKind::Nic;
    function.name = names_[device];
    function.parent = parent;
    function.host_bridge = bridge;
    function.part = given.gpu ? builder_.part(parts_.gpu(), PartKind::Gpu) : builder_.part(parts_.nic(), PartKind::Nic);
    function.device_name = given.device_name;
    if (given.gpu) function.memory_numa = given.memory_numa;
    ids_[device] = builder_.add(std::move(function));
  }

  // -------------------------------------------------------------------------------------------------------- NVLink
  void add_nvlinks() {
    auto const* gpu = parts_.named_gpu();
    auto const generation = gpu == nullptr ? 0 : gpu->gpu.nvlink_generation;
    auto const chip = gpu == nullptr ? std::string() : gpu->gpu.chip;
    std::vector<DeviceGroup> switched;
    for (auto const& group : nvlink_groups(matrix_)) {
      if (joined_by_switches(matrix_, group, parts_.named_gpu())) {
        switched.push_back(group);
        continue;
      }
      for (auto const a : group)
        for (auto const b : group)
          if (auto const links = matrix_.at(a, b).nvlinks; a < b && links > 0)
            builder_.add_nvlink(ids_[a], ids_[b], builder_.nvlink_part(generation, chip), links);
    }
    for (auto const& group : switched) {
      std::vector<NvSwitch::Port> ports;
      for (auto const i : group) ports.push_back({ids_[i], most_nvlinks(matrix_, i)});
      builder_.note(
          fmt::format("inferred: NVSwitches, for all pairs of GPUs have {} NVLinks, which is every link that a GPU has",
                      ports[0].count));
      builder_.add_nvswitch(generation, std::move(ports));
    }
  }

  // -------------------------------------------------------------------------------------------------- peer-to-peer
  // Holds tables of `nvidia-smi topo -p2p` in the same text against the rules.
  void note_p2p_differences() {
    for (auto const& table : read_p2p_tables(source_)) {
      auto const found = p2p_differences(builder_.machine(), table);
      auto const name = fmt::format("the table of 'topo -p2p' at line {} ({}{})", table.line, to_string(table.asked),
                                    table.said ? "" : ", assumed");
      if (found.empty()) {
        builder_.note(fmt::format("{} says what the rules say", name));
        continue;
      }
      constexpr std::size_t kMaxNamed = 8;
      std::vector<std::string> pairs;
      std::set<std::string> texts;
      for (auto const& difference : found) {
        if (pairs.size() < kMaxNamed) pairs.push_back(difference.subject);
        texts.insert(difference.text);
      }
      builder_.note(fmt::format("{} differs from the rules for {} pairs ({}{}): {}", name, found.size(),
                                fmt::join(pairs, ", "), found.size() > kMaxNamed ? ", ..." : "",
                                fmt::join(texts, "; ")));
    }
  }

  TopoMatrix const& matrix_;
  SourceText const& source_;
  TopoParts const parts_;
  MachineBuilder builder_;
  std::vector<std::string> names_;
  std::vector<PciId> ids_;  // by device
  int per_socket_ = 1;      // NUMA nodes
  std::optional<SocketId> socket_;
  int socket_number_ = 0;
  int bridges_ = 0;  // of the socket
};

}  // namespace

Machine read_topo_m(SourceText const& source, TopoOptions const& options, Catalogue& catalogue) {
  auto const matrix = read_topo_matrix(source);
  return TopoImporter(matrix, source, options, catalogue).import();
}

}  // namespace lanewise
