#include "core/interop/exports/infragraph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/io/yaml_writer.hpp"
#include "core/machine/nic_port.hpp"
#include "core/machine/nic_rate.hpp"
#include "core/machine/node_kinds.hpp"
#include "core/machine/path_class.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

using Tree = nlohmann::ordered_json;

constexpr double kGigabyte = 1e9;

Tree link_tree(std::string const& name, std::string const& about, std::optional<double> gigabytes_per_second) {
  Tree tree{{"name", name}, {"description", about}};
  if (gigabytes_per_second)
    tree["physical"] = {
        {"bandwidth", {{"choice", "gigabytes_per_second"}, {"gigabytes_per_second", *gigabytes_per_second}}}};
  return tree;
}

// GB/s of a link without its lanes' encoding.
double pcie_rate(PcieLink link) {
  auto const encoding = link.generation < 3 ? 0.8 : link.generation < 6 ? 128.0 / 130 : 1.0;
  return gigatransfers_per_second(link.generation) * link.width / 8 * encoding;
}

// One kind of node as a device: its components are grouped by kind and part.
class DeviceWriter {
 public:
  DeviceWriter(Machine const& node, std::string name) : node_(node), name_(std::move(name)) {}

  Tree write() {
    add_components();
    for (std::size_t i = 0; i < node_.functions.size(); ++i) add_function(PciId(i));
    add_memory();
    for (auto const& link : node_.socket_links) add_edge(cpu(link.a), cpu(link.b), bonded(link.part, link.count));
    for (auto const& bundle : node_.nvlinks) add_edge(end(bundle.a), end(bundle.b), bonded(bundle.part, bundle.count));
    for (std::size_t i = 0; i < node_.nvswitches.size(); ++i)
      for (auto const& port : node_.nvswitches[i].ports)
        add_edge(component(port.gpu), fmt::format("nvswitch[{}]", i),
                 bonded(node_.nvswitches[i].link_part, port.count));
    Tree tree{{"name", name_}};
    if (!node_.title.empty()) tree["description"] = node_.title;
    tree["components"] = components_;
    tree["links"] = Tree::array();
    for (auto const& [name, link] : links_) tree["links"].push_back(link);
    tree["edges"] = edges_;
    return tree;
  }

  // "nic[2]" of a NIC of this kind of node.
  [[nodiscard]] std::string const& component(PciId id) const { return names_.at(id); }

 private:
  static char const* choice_of(PciKind kind) {
    switch (kind) {
      case PciKind::Gpu: return "xpu";
      case PciKind::Nic: return "nic";
      case PciKind::Switch: return "switch";
      default: return "custom";
    }
  }
  static std::string description(Part const* part) {
    return part == nullptr       ? "unknown"
           : part->title.empty() ? part->name
                                 : fmt::format("{}: {}", part->name, part->title);
  }
  void add_component(std::string const& name, std::string const& about, std::size_t count, std::string const& choice,
                     std::string const& custom = {}) {
    Tree tree{{"name", name}, {"description", about}, {"count", count}, {"choice", choice}};
    tree[choice] = custom.empty() ? Tree::object() : Tree{{"type", custom}};
    components_.push_back(std::move(tree));
  }

  void add_components() {
    add_cpus();
    if (!node_.numa_nodes.empty())
      add_component("memory", "host memory, one a NUMA node", node_.numa_nodes.size(), "memory");
    for (auto const kind : {PciKind::Switch, PciKind::Gpu, PciKind::Nic, PciKind::Nvme, PciKind::Device})
      add_kind(kind);
    if (!node_.nvswitches.empty())
      add_component("nvswitch", description(&node_.at(node_.nvswitches.front().part)), node_.nvswitches.size(),
                    "switch");
  }
  void add_cpus() {
    std::set<std::string> parts;
    for (std::size_t i = 0; i < node_.sockets.size(); ++i) parts.insert(description(node_.part_of(SocketId(i))));
    if (!node_.sockets.empty())
      add_component("cpu", fmt::format("{}", fmt::join(parts, "; ")), node_.sockets.size(), "cpu");
  }

  // Parts of one kind have a component each: "nic", then "nic2".
  void add_kind(PciKind kind) {
    std::vector<std::pair<std::string, std::vector<PciId>>> groups;
    for (auto const id : node_.all(kind)) {
      auto const about = description(node_.part_of(id));
      auto const found =
          std::find_if(groups.begin(), groups.end(), [&](auto const& group) { return group.first == about; });
      (found != groups.end() ? *found : groups.emplace_back(about, std::vector<PciId>{})).second.push_back(id);
    }
    std::string const choice = choice_of(kind);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      auto const stem = choice == "custom" ? std::string(to_string(kind)) : choice;
      auto const name = i == 0 ? stem : fmt::format("{}{}", stem, i + 1);
      auto const& ids = groups[i].second;
      add_component(name, groups[i].first, ids.size(), choice, choice == "custom" ? stem : "");
      for (std::size_t k = 0; k < ids.size(); ++k) names_[ids[k]] = fmt::format("{}[{}]", name, k);
    }
  }

  static std::string cpu(SocketId id) { return fmt::format("cpu[{}]", index(id)); }
  [[nodiscard]] std::string end(NvlinkEnd const& end) const {
    if (auto const* gpu = std::get_if<PciId>(&end)) return component(*gpu);
    return cpu(std::get<SocketId>(end));
  }

  std::string enter(std::string const& name, std::string const& about, std::optional<double> rate) {
    links_.try_emplace(name, link_tree(name, about, rate));
    return name;
  }
  std::string bonded(PartId id, int count) {
    auto const& part = node_.at(id);
    auto const rate = part.link.rate ? std::optional(part.link.rate->value() * count / kGigabyte) : std::nullopt;
    return enter(fmt::format("{}-x{}", part.name, count), fmt::format("{} x{}", description(&part), count), rate);
  }

  void add_edge(std::string const& a, std::string const& b, std::string const& link) {
    edges_.push_back({{"ep1", {{"component", a}}}, {"ep2", {{"component", b}}}, {"scheme", "one2one"}, {"link", link}});
  }

  // Root ports are part of the CPU.
  void add_function(PciId id) {
    auto const& function = node_.at(id);
    if (function.kind == PciKind::RootPort) return;
    auto above = cpu(node_.socket_of(id));
    if (function.parent && node_.at(*function.parent).kind != PciKind::RootPort) above = component(*function.parent);
    auto const link = function.link ? function.link : assumed_link(node_, id);
    auto const name = link ? enter(fmt::format("pcie-gen{}-x{}", link->generation, link->width),
                                   fmt::format("PCIe {}", to_string(*link)), pcie_rate(*link))
                           : enter("pcie", "PCIe of unknown generation and width", std::nullopt);
    add_edge(above, component(id), name);
  }

  void add_memory() {
    for (std::size_t i = 0; i < node_.numa_nodes.size(); ++i) {
      auto const socket = node_.numa_nodes[i].socket;
      auto const* part = node_.part_of(socket);
      auto const rate = part != nullptr && part->cpu.memory_bandwidth
                            ? std::optional(part->cpu.memory_bandwidth->value() / kGigabyte)
                            : std::nullopt;
      add_edge(cpu(socket), fmt::format("memory[{}]", i), enter("dram", "all memory channels of a socket", rate));
    }
  }

  Machine const& node_;
  std::string name_;
  Tree components_ = Tree::array();
  Tree edges_ = Tree::array();
  std::map<std::string, Tree> links_;
  std::map<PciId, std::string> names_;
};

class InfrastructureWriter {
 public:
  explicit InfrastructureWriter(Machine const& machine) : machine_(machine), kinds_(node_kinds(machine)) {}

  std::string write() {
    Tree tree{{"name", machine_.name}};
    if (!machine_.title.empty()) tree["description"] = machine_.title;
    for (auto const& kind : kinds_) {
      // Kinds of one machine with different settings need names of their own.
      auto name = kind.machine.name;
      for (auto number = 2; !device_names_.insert(name).second; ++number)
        name = fmt::format("{}-{}", kind.machine.name, number);
      writers_.emplace_back(kind.machine, name);
      devices_.push_back(writers_.back().write());
      auto const instance = kinds_.size() == 1 ? std::string("node") : fmt::format("node-{}", name);
      instance_names_.push_back(instance);
      instances_.push_back({{"name", instance}, {"device", name}, {"count", kind.hosts.size()}});
    }
    if (machine_.fabric) add_fabric(*machine_.fabric);
    for (auto const& domain : machine_.nvswitches)
      if (!domain.host) add_domain(domain);
    tree["devices"] = devices_;
    tree["links"] = links_;
    tree["instances"] = instances_;
    tree["edges"] = edges_;
    return yaml_text(tree);
  }

 private:
  struct Place {
    std::size_t kind = 0, number = 0;
  };
  [[nodiscard]] Place place_of(HostId host) const {
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      auto const& hosts = kinds_[kind].hosts;
      if (auto const found = std::find(hosts.begin(), hosts.end(), host); found != hosts.end())
        return {kind, static_cast<std::size_t>(found - hosts.begin())};
    }
    return {};
  }

  static Tree endpoint(std::string const& instance, std::string const& component) {
    return {{"instance", instance}, {"component", component}};
  }
  std::string enter_link(std::string const& name, std::string const& about, std::optional<BytesPerSecond> rate) {
    if (link_names_.insert(name).second)
      links_.push_back(link_tree(name, about, rate ? std::optional(rate->value() / kGigabyte) : std::nullopt));
    return name;
  }
  std::string cable(std::optional<BytesPerSecond> rate, std::string const& stem) {
    auto text = rate ? exact_text(*rate) : std::string("unknown");
    auto name = fmt::format("{}-{}", stem, text);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == ' ' || c == '/'; }, '-');
    return enter_link(name, fmt::format("{} of {}", stem, text), rate);
  }

  // The switches of a tier are one device with as many ports as the fullest needs; those that act as one are one.
  void add_fabric(Fabric const& fabric) {
    std::vector<std::string> instance;
    std::vector<std::size_t> used(fabric.switches.size());
    std::map<std::pair<std::uint32_t, int>, std::size_t> of_tier;  // by network
    auto const name_of = [&](std::uint32_t network, int tier) {
      auto const& name = fabric.networks[network].name;
      return name.empty() ? tier_name(tier) : name + "-" + tier_name(tier);
    };
    for (auto const& one : fabric.switches)
      instance.push_back(fmt::format("{}[{}]", name_of(one.network, one.tier), of_tier[{one.network, one.tier}]++));
    auto const port = [&](std::uint32_t at) { return endpoint(instance[at], fmt::format("port[{}]", used[at]++)); };
    for (auto const& attachment : fabric.attachments) {
      // A second function has its cable at the first; where that is another node's, it is shown as a cable of its own.
      if (auto const owner = port_owner(machine_, attachment.nic);
          owner != attachment.nic && machine_.host_of(owner) == machine_.host_of(attachment.nic))
        continue;
      add_cable(device_end(attachment.nic), port(attachment.at), cable(cable_rate(machine_, attachment), "cable"));
    }
    for (auto const& trunk : fabric.trunks)
      if (trunk.cables > 0) add_cable(port(trunk.lower), port(trunk.upper), cable(trunk.rate, "uplink"));
    for (auto const& [key, count] : of_tier) {
      auto const [network, tier] = key;
      std::size_t ports = 0;
      std::string about;
      for (std::size_t i = 0; i < fabric.switches.size(); ++i) {
        if (fabric.switches[i].tier != tier || fabric.switches[i].network != network) continue;
        ports = std::max(ports, used[i]);
        auto const& part = fabric.switches[i].part;
        about = part ? machine_.at(*part).name : std::string("network switch");
      }
      auto const name = name_of(network, tier);
      add_switch(name + "-switch", name, fabric.networks[network].kind + ": " + about, count, ports);
    }
  }
  static std::string tier_name(int tier) {
    return tier == 0 ? "leaf" : tier == 1 ? "spine" : fmt::format("tier{}", tier);
  }

  // NVLink that joins GPUs of several nodes.
  void add_domain(NvSwitch const& domain) {
    for (std::size_t i = 0; i < domain.ports.size(); ++i) {
      auto const& part = machine_.at(domain.link_part);
      auto const rate =
          part.link.rate ? std::optional(*part.link.rate * static_cast<double>(domain.ports[i].count)) : std::nullopt;
      add_cable(device_end(domain.ports[i].gpu), endpoint(domain.name + "[0]", fmt::format("port[{}]", i)),
                cable(rate, part.name));
    }
    add_switch(domain.name + "-switch", domain.name, machine_.at(domain.part).name, 1, domain.ports.size());
  }

  // The end of a cable that is at a device of a node.
  Tree device_end(PciId id) const {
    auto const place = place_of(machine_.host_of(id));
    auto const local = kinds_[place.kind].machine.find_function(short_name(machine_.at(id).name));
    return endpoint(fmt::format("{}[{}]", instance_names_[place.kind], place.number),
                    writers_[place.kind].component(*local));
  }
  void add_cable(Tree one, Tree other, std::string const& link) {
    edges_.push_back({{"ep1", std::move(one)}, {"ep2", std::move(other)}, {"scheme", "one2one"}, {"link", link}});
  }

  void add_switch(std::string const& device, std::string const& instance, std::string const& about, std::size_t count,
                  std::size_t ports) {
    Tree const inner = link_tree("fabric", "inside the switch", std::nullopt);
    devices_.push_back(
        {{"name", device},
         {"description", about},
         {"components",
          {{{"name", "asic"}, {"description", about}, {"count", 1}, {"choice", "switch"}, {"switch", Tree::object()}},
           {{"name", "port"},
            {"description", "port"},
            {"count", ports},
            {"choice", "port"},
            {"port", Tree::object()}}}},
         {"links", {inner}},
         {"edges",
          {{{"ep1", {{"component", "asic[0]"}}},
            {"ep2", {{"component", fmt::format("port[0:{}]", ports)}}},
            {"scheme", "many2many"},
            {"link", "fabric"}}}}});
    instances_.push_back({{"name", instance}, {"device", device}, {"count", count}});
  }

  Machine const& machine_;
  std::vector<NodeKind> kinds_;
  std::vector<DeviceWriter> writers_;
  std::vector<std::string> instance_names_;
  std::set<std::string> device_names_, link_names_;
  Tree devices_ = Tree::array(), links_ = Tree::array(), instances_ = Tree::array(), edges_ = Tree::array();
};

}  // namespace

std::string infragraph_yaml(Machine const& machine) { return InfrastructureWriter(machine).write(); }

}  // namespace lanewise
