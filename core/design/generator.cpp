#include "core/design/generator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/io/spelling.hpp"
#include "core/io/work_progress.hpp"
#include "core/machine/socket_links.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/fingerprint.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxCombinations = 20'000;

// A combination that cannot be built. Its text is a budget or a rule, without the numbers of one combination.
struct Excluded {
  std::string why;
};

// Its segments, one for each kind of choice, are joined by an underscore, which is in none of them.
std::string name_of(ServerChoice const& choice) {
  auto name = fmt::format("{}-x{}", choice.gpu, choice.gpus);
  if (choice.links != GpuLinks::None) name += fmt::format("-{}", to_string(choice.links));
  if (!choice.link_part.empty()) name += fmt::format("-by-{}", choice.link_part);
  std::string shape(to_string(choice.shape));
  std::replace(shape.begin(), shape.end(), '_', '-');
  name += fmt::format("_{}-x{}_{}", choice.cpu, choice.sockets, shape);
  if (choice.switches > 0) name += fmt::format("-{}-x{}", choice.pcie_switch, choice.switches);
  if (choice.nics > 0) name += fmt::format("_{}-x{}-at-{}", choice.nic, choice.nics, to_string(choice.nics_at));
  return name;
}

std::string name_of(ServerChoice const& server, ClusterChoice const& cluster) {
  auto name = name_of(server);
  if (cluster.nodes > 1)
    name += fmt::format("_{}-nodes_{}{}-{}-tiers-{}-to-1", cluster.nodes, cluster.network_switch,
                        cluster.rails ? "-rails" : "", cluster.tiers, cluster.oversubscription);
  return name;
}

// Writes the machine file of a server.
class ServerWriter {
 public:
  ServerWriter(ServerChoice const& choice, Part const& gpu, Part const& cpu) : choice_(choice), gpu_(gpu), cpu_(cpu) {}

  std::string write() {
    ports_.resize(static_cast<std::size_t>(choice_.sockets));
    choice_.shape == PcieShape::Direct ? add_direct_gpus() : add_switches();
    if (choice_.nics_at == NicPlace::Socket)
      for (int i = 0; i < choice_.nics; ++i) add_root_port(i * choice_.sockets / choice_.nics, nic(i));
    text_ = fmt::format(
        "lanewise: machine/1\nmachine: {}\ntitle: \"generated: {} x {}, {} x {}\"\n"
        "settings: {{acs: off, iommu: pt, virtualization: none}}\nsockets:\n",
        name_of(choice_), choice_.gpus, gpu_.title, choice_.sockets, cpu_.title);
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      text_ += fmt::format("  - socket: cpu{}\n    part: {}\n", i, cpu_.name);
      if (!ports_[i].empty()) text_ += "    pcie:\n";
      for (auto const& port : ports_[i]) text_ += "      - " + port + "\n";
    }
    add_socket_links();
    add_gpu_links();
    text_ += fmt::format("software: {{cuda: true, peermem: true, dma_buf: true{}}}\n",
                         choice_.links == GpuLinks::Switch ? ", fabric_manager: true" : "");
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string gpu(int i) const { return fmt::format("gpu: gpu{}, part: {}", i, choice_.gpu); }
  [[nodiscard]] std::string nic(int i) const {
    return fmt::format("nic: nic{}, part: {}, rail: {}", i, choice_.nic, i);
  }

  void add_root_port(int socket, std::string const& what) {
    ports_[static_cast<std::size_t>(socket)].push_back(fmt::format("{{root_port: rp{}, {}}}", root_ports_++, what));
  }

  void add_direct_gpus() {
    for (int i = 0; i < choice_.gpus; ++i) add_root_port(i * choice_.sockets / choice_.gpus, gpu(i));
  }

  void add_switches() {
    std::vector<std::vector<std::string>> below(static_cast<std::size_t>(choice_.switches));
    for (int i = 0; i < choice_.gpus; ++i)
      below[static_cast<std::size_t>(i * choice_.switches / choice_.gpus)].push_back(gpu(i));
    if (choice_.nics_at == NicPlace::Switch)
      for (int i = 0; i < choice_.nics; ++i)
        below[static_cast<std::size_t>(i * choice_.switches / choice_.nics)].push_back(nic(i));
    std::vector<std::string> switches;
    for (int i = 0; i < choice_.switches; ++i) {
      auto const& devices = below[static_cast<std::size_t>(i)];
      std::vector<std::string> ports;
      for (auto const& device : devices) ports.push_back("{" + device + "}");
      switches.push_back(
          fmt::format("switch: sw{}, part: {}, ports: [{}]", i, choice_.pcie_switch, fmt::join(ports, ", ")));
    }
    if (choice_.shape == PcieShape::Cascaded) {
      std::vector<std::string> ports;
      for (auto const& one : switches) ports.push_back("{" + one + "}");
      return add_root_port(0, fmt::format("switch: sw{}, part: {}, ports: [{}]", choice_.switches, choice_.pcie_switch,
                                          fmt::join(ports, ", ")));
    }
    for (int i = 0; i < choice_.switches; ++i)
      add_root_port(choice_.shape == PcieShape::Flat ? 0 : i * choice_.sockets / choice_.switches,
                    switches[static_cast<std::size_t>(i)]);
  }

  void add_socket_links() {
    if (choice_.sockets == 1) return;
    auto const usual = usual_socket_link(cpu_);
    if (!usual) throw Excluded{fmt::format("how boards join sockets of {} is not known", cpu_.name)};
    text_ += "socket_links:\n";
    for (int a = 0; a < choice_.sockets; ++a)
      for (int b = a + 1; b < choice_.sockets; ++b)
        text_ += fmt::format("  - {{between: [cpu{}, cpu{}], part: {}, count: {}}}\n", a, b, usual->part, usual->count);
  }

  void add_gpu_links() {
    auto const& figures = gpu_.gpu;
    auto const generation = figures.nvlink_generation;
    if (choice_.links == GpuLinks::None) return;
    if (choice_.gpus < 2) throw Excluded{"links between GPUs need two of them"};
    if (choice_.link_part.empty() && generation == 0) throw Excluded{fmt::format("{} has no NVLink", gpu_.name)};
    text_ += "nvlinks:\n";
    if (choice_.links == GpuLinks::Switch) {
      // NVIDIA: NVSwitch came with the second generation of NVLink.
      if (generation < 2) throw Excluded{fmt::format("no NVSwitch has NVLink of {}'s generation", gpu_.name)};
      text_ += fmt::format(
          "  - {{switch: nvswitch, switch_part: nvswitch-{}, gpus: [gpu0..gpu{}], generation: {}, "
          "count: {}}}\n",
          generation - 1, choice_.gpus - 1, generation, figures.nvlink_ports);
      return;
    }
    if (choice_.links == GpuLinks::Pairs) {
      if (choice_.gpus % 2 != 0) throw Excluded{"pairs need an even number of GPUs"};
      for (int i = 0; i < choice_.gpus; i += 2) add_gpu_link(i, i + 1, figures.nvlink_ports);
      return;
    }
    auto const each = choice_.link_part.empty() ? figures.nvlink_ports / (choice_.gpus - 1) : 1;
    if (each == 0) throw Excluded{fmt::format("{} has too few NVLink ports for a mesh", gpu_.name)};
    for (int i = 0; i < choice_.gpus; ++i)
      for (int k = i + 1; k < choice_.gpus; ++k) add_gpu_link(i, k, each);
  }

  void add_gpu_link(int a, int b, int count) {
    auto const what = choice_.link_part.empty() ? fmt::format("generation: {}", gpu_.gpu.nvlink_generation)
                                                : "part: " + choice_.link_part;
    text_ += fmt::format("  - {{between: [gpu{}, gpu{}], {}, count: {}}}\n", a, b, what, count);
  }

  ServerChoice const& choice_;
  Part const& gpu_;
  Part const& cpu_;
  std::vector<std::vector<std::string>> ports_;  // of each socket
  int root_ports_ = 0;
  std::string text_;
};

// The file of a cluster. Leaves are as full as the ports of their part allow.
std::string cluster_source(ServerChoice const& server, ClusterChoice const& choice, Part const& network_switch) {
  auto const ports = network_switch.hop.ports;
  if (!ports) throw Excluded{fmt::format("how many ports {} has is not known", network_switch.name)};
  auto text = fmt::format(
      "lanewise: cluster/1\ncluster: {}\ntitle: \"generated: {} servers\"\nnodes: [{{machine: {}, count: "
      "{}}}]\nfabric:\n"
      "  switch: {}\n",
      name_of(server, choice), choice.nodes, name_of(server), choice.nodes, network_switch.name);
  if (choice.tiers == 1)
    return text + (choice.rails ? fmt::format("  kind: rail_only\n  nodes_per_leaf: {}\n", choice.nodes)
                                : "  kind: single_switch\n");
  // d cables down and d / o up are at most `ports`.
  auto const o = choice.oversubscription;
  auto const cables_down = *ports * o / (o + 1);
  auto const nodes_per_leaf = std::min(choice.rails ? cables_down : cables_down / server.nics, choice.nodes);
  if (nodes_per_leaf < 1)
    throw Excluded{fmt::format("{} has too few ports for the NICs of one server", network_switch.name)};
  auto const down = choice.rails ? nodes_per_leaf : nodes_per_leaf * server.nics;
  auto const uplinks = std::max(1, down / o);
  if (choice.tiers == 2)
    return text + fmt::format("  kind: {}\n  nodes_per_leaf: {}\n  uplinks: {}\n",
                              choice.rails ? "rail_optimised" : "leaf_spine", nodes_per_leaf, uplinks);
  auto const leaves = (choice.nodes + nodes_per_leaf - 1) / nodes_per_leaf;
  auto const per_pod = std::min(leaves, *ports / 2 / (choice.rails ? server.nics : 1));
  if (per_pod < 1) throw Excluded{fmt::format("{} has too few ports for the rails of one leaf", network_switch.name)};
  auto const pods = (leaves + per_pod - 1) / per_pod;
  auto const cables_to_core = pods * uplinks * per_pod * (choice.rails ? server.nics : 1);
  auto const core = (cables_to_core + *ports - 1) / *ports;
  return text + fmt::format(
                    "  kind: fat_tree\n{}  tiers:\n"
                    "    - {{tier: leaf, joins: {}, oversubscription: {}}}\n"
                    "    - {{tier: pod, joins: {}, switches: {}}}\n    - {{tier: core, switches: {}}}\n",
                    choice.rails ? "  by_rail: true\n" : "", nodes_per_leaf, o, per_pod, uplinks, core);
}

class Generation {
 public:
  using Take = std::function<void(GeneratedMachine, Machine)>;
  Generation(CandidateGenerator const& generator, Catalogue& catalogue, GeneratedSummary& summary, Take const& take)
      : generator_(generator), catalogue_(catalogue), summary_(summary), take_(take) {}

  void make() {
    check_parts();
    for (auto const& choice : servers()) add(choice);
  }

 private:
  Part const& part(std::string const& name, PartKind kind) {
    auto const* found = catalogue_.part(name);
    if (found == nullptr)
      refuse_at(generator_.pos,
                fmt::format("generate: no part is called '{}'{}", name, did_you_mean(name, catalogue_.part_names())));
    if (found->kind != kind)
      refuse_at(generator_.pos, fmt::format("generate: '{}' is a {}, and a {} is wanted here", name,
                                            to_string(found->kind), to_string(kind)));
    return *found;
  }

  void check_parts() {
    for (auto const& name : generator_.gpu) {
      auto const& gpu = part(name, PartKind::Gpu);
      if (generator_.links.empty() && gpu.gpu.nvlink_generation > 0)
        refuse_at(generator_.pos,
                  fmt::format("generate: {} has NVLink; say 'gpu_links': switch, pairs, mesh or none", name));
    }
    for (auto const& name : generator_.cpu) part(name, PartKind::Cpu);
    for (auto const& name : generator_.pcie_switch) part(name, PartKind::Switch);
    for (auto const& name : generator_.nic) part(name, PartKind::Nic);
    for (auto const& name : generator_.network_switch) part(name, PartKind::NetworkSwitch);
  }

  void check_number(std::size_t combinations) const {
    if (combinations > kMaxCombinations)
      refuse_at(generator_.pos,
                fmt::format("generate: more than {} combinations; leave some choices out", kMaxCombinations));
  }

  // Every combination that differs: without switches their number says nothing, without NICs their place.
  std::vector<ServerChoice> servers() {
    std::vector<ServerChoice> all{{}};
    auto const vary = [&](auto const& values, auto const& set) {
      std::vector<ServerChoice> varied;
      for (auto const& choice : all)
        for (auto const& value : values(choice)) {
          varied.push_back(choice);
          set(varied.back(), value);
        }
      all = std::move(varied);
      check_number(all.size());
    };
    auto const& g = generator_;
    vary([&](auto const&) { return g.gpu; }, [](auto& c, auto const& v) { c.gpu = v; });
    vary([&](auto const&) { return g.gpus; }, [](auto& c, int v) { c.gpus = v; });
    vary([&](auto const&) { return g.links.empty() ? std::vector{GpuLinks::None} : g.links; },
         [&](auto& c, GpuLinks v) {
           c.links = v;
           if (v == GpuLinks::Mesh) c.link_part = g.link_part;
         });
    vary([&](auto const&) { return g.cpu; }, [](auto& c, auto const& v) { c.cpu = v; });
    vary([&](auto const&) { return g.sockets; }, [](auto& c, int v) { c.sockets = v; });
    vary([&](auto const&) { return g.shapes; }, [](auto& c, PcieShape v) { c.shape = v; });
    auto const has_switches = [](auto const& c) { return c.shape != PcieShape::Direct; };
    vary([&](auto const& c) { return has_switches(c) ? g.pcie_switch : std::vector<std::string>{""}; },
         [](auto& c, auto const& v) { c.pcie_switch = v; });
    vary([&](auto const& c) { return has_switches(c) ? g.switches : std::vector{0}; },
         [](auto& c, int v) { c.switches = v; });
    vary([&](auto const&) { return g.nic.empty() ? std::vector<std::string>{""} : g.nic; },
         [](auto& c, auto const& v) { c.nic = v; });
    vary([&](auto const& c) { return c.nic.empty()    ? std::vector{0}
                                     : g.nics.empty() ? std::vector{c.gpus}
                                                      : g.nics; },
         [](auto& c, int v) { c.nics = v; });
    vary([&](auto const& c) { return c.nics == 0 || !has_switches(c) ? std::vector{NicPlace::Socket} : g.nics_at; },
         [](auto& c, NicPlace v) { c.nics_at = v; });
    return all;
  }

  std::vector<ClusterChoice> clusters() const {
    auto const& g = generator_;
    std::vector<ClusterChoice> all;
    for (auto const nodes : g.nodes) {
      if (nodes == 1) {
        all.emplace_back();
        continue;
      }
      for (auto const& network_switch : g.network_switch)
        for (bool const rails : g.rails)
          for (auto const tiers : g.tiers)
            for (auto const oversubscription : tiers == 1 ? std::vector{1} : g.oversubscription)
              all.push_back({nodes, network_switch, rails, tiers, oversubscription});
    }
    return all;
  }

  static void check_shape(ServerChoice const& choice) {
    auto const name = to_string(choice.shape);
    if (choice.shape == PcieShape::DualRoot && (choice.sockets < 2 || choice.switches < 2))
      throw Excluded{fmt::format("{} needs two sockets and two switches", name)};
    if (choice.shape == PcieShape::Cascaded && choice.switches < 2)
      throw Excluded{fmt::format("{} needs two switches below the first", name)};
    if (choice.switches > choice.gpus) throw Excluded{"more PCIe switches than GPUs"};
  }

  void add(ServerChoice const& server) {
    for (auto const& cluster : clusters()) {
      check_number(++summary_.combinations);
      report_progress({"generating candidates", "combinations", summary_.combinations, 0});
      try {
        add(server, cluster);
      } catch (Excluded const& excluded) {
        ++summary_.excluded[excluded.why];
      } catch (InputError const& error) {
        // Without what each link of this combination takes: others are left out for the same reason.
        auto const why = error.first_message();
        ++summary_.excluded[why.substr(0, why.find(": "))];
      }
    }
  }

  void add(ServerChoice const& server, ClusterChoice const& cluster) {
    check_shape(server);
    GeneratedMachine made;
    made.name = name_of(server, cluster);
    made.source = ServerWriter(server, part(server.gpu, PartKind::Gpu), part(server.cpu, PartKind::Cpu)).write();
    if (cluster.nodes > 1) {
      if (server.nics == 0) throw Excluded{"servers without NICs cannot be joined"};
      made.node_source = made.source;
      made.node_name = name_of(server);
      if (!catalogue_.added_file(made.node_name))
        catalogue_.add(SourceText::from_memory(made.node_name, made.node_source));
      made.source = cluster_source(server, cluster, part(cluster.network_switch, PartKind::NetworkSwitch));
    }
    auto machine = catalogue_.machine_from(SourceText::from_memory(made.name, made.source));
    if (!fingerprints_.insert(fingerprint(machine)).second) {
      ++summary_.equivalent;
      return;
    }
    ++summary_.candidates;
    take_(std::move(made), std::move(machine));
  }

  CandidateGenerator const& generator_;
  Catalogue& catalogue_;
  GeneratedSummary& summary_;
  Take const& take_;
  std::set<std::string> fingerprints_;
};

}  // namespace

void generate_machines(CandidateGenerator const& generator, Catalogue& catalogue, GeneratedSummary& summary,
                       std::function<void(GeneratedMachine, Machine)> const& take) {
  Generation(generator, catalogue, summary, take).make();
}

}  // namespace lanewise
