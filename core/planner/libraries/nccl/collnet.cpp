#include "core/planner/libraries/nccl/collnet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/planner/libraries/nccl/channel_rates.hpp"
#include "core/planner/libraries/nccl/tree_search.hpp"

namespace lanewise::nccl {
namespace {

// device.h: NCCL_MAX_DIRECT_ARITY, and the head itself.
constexpr std::size_t kMaxGpusOfNode = 8;

// A NIC, and the GPU that calls it its own; of several the first. A GPU with several NICs is the head of one.
std::vector<Channel> heads_of(Topology const& topology) {
  std::vector<Channel> heads;
  for (std::size_t nic = 0; nic < topology.nics().size(); ++nic)
    for (std::size_t gpu = 0; gpu < topology.gpus().size(); ++gpu) {
      if (topology.own_nic(gpu) != nic) continue;
      heads.push_back({{gpu}, nic, nic});
      break;
    }
  return heads;
}

// A head's channels take their rate of its own link, each way, and divide it among those of all others.
bool fits_nvlink(Topology const& topology, std::size_t channels, std::size_t heads, double rate) {
  auto const others = static_cast<double>(topology.gpus().size()) - 1;
  auto const own = static_cast<double>(channels) / static_cast<double>(heads);
  return rate * (own + (static_cast<double>(channels) - own) / others) <= topology.nvlink_rate() + 1e-9;
}

// By switch, how many streams of one node pass it: those of all nodes are one in the network.
std::map<std::uint32_t, int> streams_of_switches(Fabric const& fabric, std::vector<PciId> const& nics) {
  std::map<std::uint32_t, int> streams;
  for (auto const nic : nics)
    for (auto const& attachment : fabric.attachments_of(nic)) ++streams[attachment.at];
  return streams;
}

}  // namespace

std::size_t head_count(CollNet const& collnet) {
  std::set<std::size_t> heads;
  for (auto const& channel : collnet.direct.channels) heads.insert(channel.gpus.front());
  return heads.size();
}

std::optional<std::string> why_no_collnet(Machine const& machine, std::vector<std::vector<PciId>> const& nodes,
                                          Topology const& topology, Graph const& rings,
                                          Environment const& environment) {
  auto const least_nodes = number_in(environment, "NCCL_COLLNET_NODE_THRESHOLD").value_or(2);
  if (static_cast<int>(nodes.size()) < std::max(2, least_nodes))
    return fmt::format("it takes at least {} nodes", std::max(2, least_nodes));
  if (nodes.front().size() > kMaxGpusOfNode) return fmt::format("it takes at most {} GPUs a node", kMaxGpusOfNode);
  if (!machine.fabric || topology.nics().empty() || rings.is_fallback) return "no NIC is near enough to a GPU";
  auto const& fabric = *machine.fabric;
  std::vector<PciId> own;
  for (auto const& head : heads_of(topology)) own.push_back(topology.nics()[head.nic]);
  for (auto const& [at, streams] : streams_of_switches(fabric, own)) {
    auto const& part = fabric.switches[at].part;
    if (!part || !machine.at(*part).hop.reduction_efficiency)
      return fmt::format("{} adds up nothing that passes it",
                         part ? machine.at(*part).title : "the switch of the network, whose part is not known,");
    auto const most = machine.at(*part).hop.reduction_streams;
    if (most && streams > *most)
      return fmt::format("{} adds up {} streams at a time, and {} NICs of each node are on '{}'",
                         machine.at(*part).title, *most, streams, fabric.switches[at].name);
  }
  return std::nullopt;
}

CollNet search_collnet(Topology const& topology, Graph const& rings, Library const& library) {
  CollNet found{{}, chain_rate(rings, topology, library)};
  auto const heads = heads_of(topology);
  if (!topology.has_nvswitch() || topology.gpus().size() < 2 || heads.empty()) return found;
  auto const all = speeds(topology.min_capability(), true, library);
  auto const narrowest = [&] {
    double rate = topology.max_rate(true);
    for (auto const& head : heads)
      rate = std::min({rate, topology.from_nic(head.nic, head.gpus.front()).rate,
                       topology.to_nic(head.gpus.front(), head.nic).rate});
    return rate;
  }();
  auto const first = std::find_if(all.begin(), all.end(), [&](double speed) {
    return speed <= narrowest + 1e-9 && fits_nvlink(topology, heads.size(), heads.size(), speed);
  });
  if (first == all.end()) return found;
  auto& graph = found.direct;
  graph.channels = heads;
  graph.rate = *first;
  duplicate_channels(graph, topology.min_capability(), std::min(kMaxGpusOfNode, topology.gpus().size()));
  graph.inter_rate = graph.rate;
  // The second pass raises what the links within a node carry, to twice what the NICs do.
  for (auto faster = std::find(all.rbegin(), all.rend(), graph.rate);
       faster != all.rend() && graph.rate < 2 * graph.inter_rate; ++faster) {
    if (!fits_nvlink(topology, graph.channels.size(), heads.size(), *faster)) break;
    graph.rate = *faster;
  }
  return found;
}

}  // namespace lanewise::nccl
