#include "core/planner/libraries/nccl/tree_search.hpp"

#include <algorithm>
#include <cmath>

#include "core/planner/libraries/nccl/channel_rates.hpp"

namespace lanewise::nccl {
namespace {

// Takes what a channel of this speed needs of a path. False: there is not so much left.
bool consume(Topology const& topology, Path const& path, double speed, std::vector<double>& left) {
  for (auto const link : path.links) {
    left[link] -= share_of(topology, path, link, speed);
    if (std::round(left[link] * 1000) < 0) return false;
  }
  return true;
}

bool chains_fit(Graph const& rings, Topology const& topology, double speed) {
  auto left = topology.capacities();
  auto const n = topology.gpus().size();
  for (std::size_t c = 0; c < rings.channels.size(); ++c) {
    auto const& gpus = rings.channels[c].gpus;
    for (std::size_t i = 0; i + 1 < n; ++i)
      if (!consume(topology, topology.between(gpus[(c + i) % n], gpus[(c + i + 1) % n]), speed, left)) return false;
  }
  return true;
}

bool is_near(Graph const& rings, Topology const& topology, std::size_t gpu, std::size_t nic) {
  return topology.to_nic(gpu, nic).type <= rings.inter && topology.from_nic(nic, gpu).type <= rings.inter;
}

// The chain of a tree. By NVSwitch each GPU's next one, or each one's previous where only that is near the NIC;
// otherwise as the ring goes.
std::vector<std::size_t> chain_of(Channel const& channel, Graph const& rings, Topology const& topology) {
  auto chain = channel.gpus;
  auto const n = chain.size();
  if (!topology.has_nvswitch() || n < 2) return chain;
  auto const next = (chain[0] + 1) % n;
  auto const previous = (chain[0] + n - 1) % n;
  bool const is_forward =
      is_near(rings, topology, next, channel.nic) || !is_near(rings, topology, previous, channel.nic);
  for (std::size_t i = 1; i < n; ++i) chain[i] = (chain[i - 1] + (is_forward ? 1 : n - 1)) % n;
  return chain;
}

// The same of trees over several nodes: the NIC's traffic stays as it is, of which the first `sharing` GPUs have an
// equal part each.
bool chains_fit_beside_nics(Graph const& rings, Topology const& topology, double speed, std::size_t sharing) {
  auto left = topology.capacities();
  for (auto const& channel : rings.channels) {
    auto const chain = chain_of(channel, rings, topology);
    for (std::size_t i = 0; i < sharing; ++i)
      if (!consume(topology, topology.to_nic(chain[i], channel.nic), rings.rate / static_cast<double>(sharing), left))
        return false;
    for (std::size_t i = 0; i + 1 < chain.size(); ++i)
      if (!consume(topology, topology.between(chain[i], chain[i + 1]), speed, left)) return false;
  }
  return true;
}

// Within a node what chains carry rises while it is below twice what they carry to the NIC.
double raised_rate(Graph const& rings, Topology const& topology, std::vector<double> const& all, std::size_t sharing) {
  auto rate = rings.rate;
  for (auto speed = all.rbegin(); speed != all.rend() && rate < 2 * rings.rate; ++speed) {
    if (*speed <= rate) continue;
    if (!chains_fit_beside_nics(rings, topology, *speed, sharing)) break;
    rate = *speed;
  }
  return rate;
}

}  // namespace

double tree_rate(Graph const& rings, Topology const& topology, std::size_t nodes, Library const& library) {
  if (nodes > 2 || rings.is_fallback || topology.gpus().size() < 2) return rings.rate;
  auto const all = speeds(topology.min_capability(), nodes > 1, library);
  if (nodes == 1) {
    for (auto const speed : all)
      if (speed >= rings.rate && chains_fit(rings, topology, speed)) return speed;
    return rings.rate;
  }
  return raised_rate(rings, topology, all, trees_are_plain(rings, topology) ? 1 : 2);
}

double chain_rate(Graph const& rings, Topology const& topology, Library const& library) {
  if (rings.is_fallback || topology.gpus().size() < 2) return rings.rate;
  return raised_rate(rings, topology, speeds(topology.min_capability(), true, library), 1);
}

bool trees_are_plain(Graph const& rings, Topology const& topology) {
  if (topology.min_capability() < 90 || topology.gpus().size() < 2) return false;
  return std::any_of(rings.channels.begin(), rings.channels.end(), [&](Channel const& channel) {
    return !is_near(rings, topology, chain_of(channel, rings, topology).at(1), channel.nic);
  });
}

}  // namespace lanewise::nccl
