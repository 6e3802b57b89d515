// The facts as JSON, with what a machine file cannot hold.
#include <array>
#include <nlohmann/json.hpp>

#include "hw/discover/discovery.hpp"
#include "lanewise/machine/machine_file.hpp"

namespace lanewise::hw {
namespace {

using Tree = nlohmann::ordered_json;

Tree written(std::optional<PcieLink> const& link) { return link ? Tree(to_string(*link)) : Tree(); }
Tree written(Probe const& probe) {
  Tree tree{{"asked", probe.asked}, {"found", probe.found}};
  if (!probe.reason.empty()) tree["reason"] = probe.reason;
  return tree;
}
template <class Value>
Tree written(std::optional<Value> const& value) {
  return value ? Tree(*value) : Tree();
}

std::string_view to_string(PortType type) {
  constexpr std::array<std::string_view, 7> kNames{"unknown",           "endpoint",   "root_port", "switch_upstream",
                                                   "switch_downstream", "integrated", "other"};
  return kNames.at(static_cast<std::size_t>(type));
}

Tree written(PciFacts const& function) {
  auto const& config = function.config;
  Tree tree{{"bdf", function.bdf},
            {"above", function.above},
            {"root_bus", function.root_bus},
            {"class", function.class_code},
            {"id", function.id},
            {"subsystem", function.subsystem},
            {"port", to_string(config.port_type)},
            {"link", written(function.link)},
            {"max_link", written(function.max_link)},
            {"acs", lanewise::to_string(config.acs)},
            {"ari", written(config.ari)},
            {"relaxed_ordering", written(config.relaxed_ordering)},
            {"tags", written(config.tags)},
            {"numa", function.numa},
            {"iommu_group", function.iommu_group},
            {"iommu_type", function.iommu_type},
            {"driver", function.driver},
            {"virtual_function", function.virtual_function}};
  tree["max_payload_bytes"] = config.max_payload ? Tree(config.max_payload->value()) : Tree();
  tree["max_read_request_bytes"] = config.max_read_request ? Tree(config.max_read_request->value()) : Tree();
  tree["peer_clique"] = written(config.peer_clique);
  tree["bar_bytes"] = Tree::array();
  for (auto const bar : function.bars) tree["bar_bytes"].push_back(bar.value());
  return tree;
}

Tree written(NicFacts const& nic) {
  Tree tree{{"name", nic.name}, {"bdf", nic.bdf}, {"rdma", nic.rdma}, {"link_layer", nic.link_layer}, {"up", nic.up}};
  if (!nic.below.empty()) tree["below"] = nic.below;
  if (!nic.guid.empty()) tree["guid"] = nic.guid;
  if (!nic.firmware.empty()) tree["firmware"] = nic.firmware;
  tree["rate_GBps"] = nic.rate ? Tree(nic.rate->value() / 1e9) : Tree();
  tree["in_verbs"] = written(nic.in_verbs);
  return tree;
}

Tree written(NvmlFacts const& nvml) {
  constexpr std::array<std::string_view, 4> kFabric{"not_supported", "not_started", "in_progress", "completed"};
  constexpr std::array<std::string_view, 4> kRemotes{"unknown", "gpu", "cpu", "switch"};
  constexpr std::array<std::string_view, 8> kStatus{"OK", "CNS", "GNS", "TNS", "DR", "NS", "U", "not said"};
  constexpr std::array<std::string_view, kPeerOps> kOps{"read", "write", "nvlink", "atomics", "pci"};
  Tree tree = written(nvml.probe);
  tree["driver"] = nvml.driver_version;
  tree["gpus"] = Tree::array();
  for (auto const& gpu : nvml.gpus) {
    Tree item{{"bdf", gpu.bdf},
              {"id", gpu.id},
              {"name", gpu.name},
              {"uuid", gpu.uuid},
              {"firmware", gpu.firmware},
              {"link", written(gpu.link)},
              {"max_link", written(gpu.max_link)},
              {"mig", written(gpu.mig)},
              {"virtualization", gpu.virtualization},
              {"c2c", gpu.c2c}};
    item["bar1_bytes"] = gpu.bar1 ? Tree(gpu.bar1->value()) : Tree();
    item["fabric"] = gpu.fabric ? Tree(kFabric.at(static_cast<std::size_t>(*gpu.fabric))) : Tree();
    item["fabric_clique"] = gpu.fabric_clique;
    item["nvlinks"] = Tree::array();
    for (auto const& link : gpu.links)
      item["nvlinks"].push_back({{"link", link.number},
                                 {"remote", kRemotes.at(static_cast<std::size_t>(link.remote))},
                                 {"remote_bdf", link.remote_bdf},
                                 {"version", link.version},
                                 {"capabilities", link.capabilities}});
    tree["gpus"].push_back(std::move(item));
  }
  tree["pairs"] = Tree::array();
  for (auto const& pair : nvml.pairs) {
    Tree item{{"from", pair.from}, {"to", pair.to}};
    for (std::size_t op = 0; op < kPeerOps; ++op)
      item[std::string(kOps.at(op))] = kStatus.at(static_cast<std::size_t>(pair.status.at(op)));
    item["ancestor"] = pair.ancestor ? Tree(lanewise::to_string(*pair.ancestor)) : Tree();
    tree["pairs"].push_back(std::move(item));
  }
  return tree;
}

Tree written(CudaFacts const& cuda) {
  Tree tree = written(cuda.probe);
  tree["driver"] = cuda.driver_version;
  tree["gpus"] = Tree::array();
  for (auto const& gpu : cuda.gpus)
    tree["gpus"].push_back({{"ordinal", gpu.ordinal},
                            {"bdf", gpu.bdf},
                            {"name", gpu.name},
                            {"compute_capability", gpu.compute_capability},
                            {"multiprocessors", gpu.multiprocessors},
                            {"copy_engines", gpu.copy_engines},
                            {"memory_bytes", gpu.memory.value()},
                            {"integrated", gpu.integrated},
                            {"managed_memory", gpu.managed},
                            {"concurrent_managed_access", gpu.concurrent_managed},
                            {"pageable_memory_access", gpu.pageable},
                            {"host_native_atomics", gpu.host_atomics},
                            {"dma_buf", gpu.dma_buf},
                            {"gpudirect_rdma", gpu.rdma}});
  tree["pairs"] = Tree::array();
  for (auto const& pair : cuda.pairs)
    tree["pairs"].push_back({{"from", pair.from},
                             {"to", pair.to},
                             {"access", pair.access},
                             {"native_atomics", pair.atomics},
                             {"performance_rank", written(pair.rank)}});
  return tree;
}

Tree written(HostFacts const& facts) {
  Tree tree;
  tree["cpu"] = {{"cpuid", facts.cpu.cpuid},
                 {"model_name", facts.cpu.model_name},
                 {"hypervisor", facts.cpu.hypervisor},
                 {"numa", Tree::array()}};
  for (auto const& node : facts.cpu.nodes)
    tree["cpu"]["numa"].push_back({{"node", node.node}, {"cores", node.cores}, {"packages", node.packages}});
  tree["platform"] = {
      {"hypervisor", facts.platform.hypervisor},    {"product", facts.platform.product},
      {"firmware", facts.platform.firmware},        {"kernel_arguments", facts.platform.kernel_arguments},
      {"iommu", written(facts.platform.has_iommu)}, {"modules", facts.platform.modules}};
  tree["nvml"] = written(facts.nvml);
  tree["cuda"] = written(facts.cuda);
  tree["verbs"] = written(facts.verbs.probe);
  tree["verbs"]["dma_buf"] = facts.verbs.dma_buf;
  tree["verbs"]["devices"] = facts.verbs.devices;
  tree["nics"] = Tree::array();
  for (auto const& nic : facts.nics) tree["nics"].push_back(written(nic));
  tree["block_devices"] = Tree::array();
  for (auto const& device : facts.block_devices)
    tree["block_devices"].push_back({{"name", device.name},
                                     {"bdfs", device.functions},
                                     {"bytes", device.bytes ? Tree(device.bytes->value()) : Tree()},
                                     {"mounted_at", device.mounted_at}});
  tree["pci"] = Tree::array();
  for (auto const& function : facts.pci) tree["pci"].push_back(written(function));
  return tree;
}

}  // namespace

nlohmann::ordered_json discovery_json(Discovery const& found) {
  Tree tree{{"lanewise", "discovery/1"}, {"machine", machine_tree(found.machine)}, {"findings", Tree::array()}};
  for (auto const& finding : found.findings) {
    Tree item{{"kind", to_string(finding.kind)}, {"subjects", finding.subjects}, {"text", finding.text}};
    if (!finding.rule.empty()) item["rule"] = finding.rule;
    tree["findings"].push_back(std::move(item));
  }
  tree["observed"] = written(found.facts);
  return tree;
}

}  // namespace lanewise::hw
