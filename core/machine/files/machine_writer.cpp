// Writes a single machine as a machine file.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "core/io/yaml_writer.hpp"
#include "core/machine/machine_fields.hpp"
#include "core/machine/part_fields.hpp"
#include "lanewise/machine/machine_file.hpp"

namespace lanewise {
namespace {

using Tree = nlohmann::ordered_json;

class MachineWriter {
 public:
  explicit MachineWriter(Machine const& machine) : machine_(machine) {}

  Tree write() const {
    Tree tree;
    tree["lanewise"] = "machine/1";
    tree["machine"] = machine_.name;
    if (!machine_.title.empty()) tree["title"] = machine_.title;
    if (!machine_.notes.empty()) tree["notes"] = machine_.notes;
    tree["settings"] = settings(machine_.hosts.front().settings);
    for (auto const& part : machine_.parts)
      if (part.inlined) tree["parts"][part.name] = part_tree(part);
    tree["sockets"] = Tree::array();
    for (std::size_t i = 0; i < machine_.sockets.size(); ++i) tree["sockets"].push_back(socket(SocketId(i)));
    for (auto const& link : machine_.socket_links)
      tree["socket_links"].push_back({{"between", {machine_.at(link.a).name, machine_.at(link.b).name}},
                                      {"part", machine_.at(link.part).name},
                                      {"count", link.count}});
    for (auto const& bundle : machine_.nvlinks) {
      Tree item{{"between", {end(bundle.a), end(bundle.b)}}};
      name_link(item, bundle.part);
      item["count"] = bundle.count;
      tree["nvlinks"].push_back(std::move(item));
    }
    for (auto const& domain : machine_.nvswitches) write_nvswitch(domain, tree["nvlinks"]);
    tree["software"] = software(machine_.hosts.front().software);
    for (auto const& entry : machine_.overrides) tree["overrides"].push_back(written(entry));
    return tree;
  }

 private:
  // Adds what the fields say of the object: flags and counts as such, everything else as text.
  template <class Fields, class Object>
  static void write_fields(Fields const& fields, Object const& object, Tree& tree) {
    for (auto const& field : fields) {
      auto const texts = field.write(object);
      if (texts.empty()) continue;
      auto& value = tree[field.spec.name];
      if (field.spec.type == ValueType::Flag)
        value = texts.front() == "true";
      else if (field.spec.type == ValueType::Count)
        value = std::stoi(texts.front());
      else
        value = texts.front();
    }
  }

  static Tree settings(Settings const& settings) {
    Tree tree;
    write_fields(settings_fields(), settings, tree);
    auto const& virtualization = settings.virtualization;
    if (virtualization == Virtualization{}) {
      tree["virtualization"] = "none";
    } else {
      auto& inner = tree["virtualization"];
      write_fields(virtualization_fields(), virtualization, inner);
      for (auto const& clique : virtualization.cliques) inner["cliques"].push_back(clique);
    }
    return tree;
  }

  // Every flag, also those at their default: a reader of the file wants to see what is missing.
  static Tree software(Software const& software) {
    Tree tree;
    for (auto const& field : software_fields()) tree[field.spec.name] = software.*field.flag;
    return tree;
  }

  Tree socket(SocketId id) const {
    auto const& socket = machine_.at(id);
    Tree tree{{"socket", socket.name}, {"part", socket.part ? machine_.at(*socket.part).name : "unknown"}};
    for (auto const& numa : machine_.numa_nodes) {
      if (numa.socket != id) continue;
      Tree item;
      write_fields(numa_fields(), numa, item);
      tree["numa"].push_back(std::move(item));
    }
    for (std::size_t i = 0; i < machine_.functions.size(); ++i)
      if (!machine_.functions[i].parent && machine_.socket_of(PciId(i)) == id)
        tree["pcie"].push_back(top_port(PciId(i)));
    return tree;
  }

  Tree top_port(PciId id) const {
    auto const& function = machine_.at(id);
    Tree tree;
    if (function.kind == PciKind::RootPort) tree["root_port"] = function.name;
    tree["host_bridge"] = machine_.at(function.host_bridge).name;
    tree["numa"] = machine_.at(machine_.numa_of(id)).os_index;
    if (function.kind != PciKind::RootPort) {
      write_function(id, tree);
    } else {
      for (auto const child : children(id)) write_function(child, tree);
    }
    return tree;
  }

  void write_function(PciId id, Tree& tree) const {
    auto const& f = machine_.at(id);
    tree[std::string(to_string(f.kind))] = f.name;
    tree["part"] = f.part ? machine_.at(*f.part).name : "unknown";
    write_fields(function_fields(), f, tree);
    for (auto const child : children(id)) {
      Tree port;
      write_function(child, port);
      tree["ports"].push_back(std::move(port));
    }
  }

  std::vector<PciId> children(PciId id) const {
    std::vector<PciId> found;
    for (std::size_t i = index(id) + 1; i < machine_.functions.size(); ++i)
      if (machine_.functions[i].parent == id) found.push_back(PciId(i));
    return found;
  }

  std::string const& end(NvlinkEnd const& e) const {
    if (auto const* gpu = std::get_if<PciId>(&e)) return machine_.at(*gpu).name;
    return machine_.at(std::get<SocketId>(e)).name;
  }
  void name_link(Tree& item, PartId id) const {
    auto const& part = machine_.at(id);
    if (part.name == fmt::format("nvlink-{}", part.link.generation))
      item["generation"] = part.link.generation;
    else
      item["part"] = part.name;
  }

  // One entry for each run of GPUs with the same number of links.
  void write_nvswitch(NvSwitch const& domain, Tree& list) const {
    for (std::size_t first = 0; first < domain.ports.size();) {
      Tree item{{"switch", domain.name}, {"switch_part", machine_.at(domain.part).name}};
      auto const count = domain.ports[first].count;
      for (; first < domain.ports.size() && domain.ports[first].count == count; ++first)
        item["gpus"].push_back(machine_.at(domain.ports[first].gpu).name);
      name_link(item, domain.link_part);
      item["count"] = count;
      list.push_back(std::move(item));
    }
  }

  Tree written(Override const& entry) const {
    Tree tree{{"from", machine_.name_of(entry.from)}, {"to", machine_.name_of(entry.to)}};
    write_fields(override_fields(), entry, tree);
    return tree;
  }

  Machine const& machine_;
};

}  // namespace

nlohmann::ordered_json part_tree(Part const& part) {
  Tree tree{{"kind", to_string(part.kind)}};
  for (auto const& field : part_fields(part.kind)) {
    auto const texts = part.source_of(field.spec.name) != nullptr ? field.value(part) : field.write(part);
    if (texts.empty()) continue;
    if (field.spec.type == ValueType::List)
      tree[field.spec.name] = texts;
    else
      tree[field.spec.name] = texts.front();
  }
  for (auto const& source : part.sources)
    tree["sources"][source.figure] = {{std::string(to_string(source.kind)), source.text}};
  return tree;
}

nlohmann::ordered_json machine_tree(Machine const& machine) {
  if (machine.hosts.size() != 1)
    throw PlanError(fmt::format("'{}' is a cluster of {} nodes; only a single machine is written as a machine file",
                                machine.name, machine.hosts.size()));
  return MachineWriter(machine).write();
}

std::string write_machine(Machine const& machine) { return yaml_text(machine_tree(machine)); }

}  // namespace lanewise
