#include "core/planner/libraries/nccl/graph_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>

#include "core/planner/libraries/nccl/channel_rates.hpp"
#include "lanewise/model/resources/inline_vector.hpp"

namespace lanewise::nccl {
namespace {

std::size_t max_channels(Library const& library) { return library.minor >= 25 ? 32 : 16; }

PathType farther(PathType type) { return static_cast<PathType>(static_cast<int>(type) + 1); }

// One setting of the search.
struct SearchSetting {
  double speed = 0;
  PathType intra = PathType::Nvl;
  PathType inter = PathType::Pix;
  bool same_channels = true;
  RailChange rail_change = RailChange::None;
  std::size_t max = 0;  // channels
  std::size_t min = 1;
};

class RingSearch {
 public:
  RingSearch(Topology const& topology, bool several_nodes)
      : topology_(topology),
        several_nodes_(several_nodes),
        own_nics_(own_nics_of(topology)),
        left_(topology.capacities()) {
    for (std::size_t nic = 0; several_nodes && nic < topology.nics().size(); ++nic)
      near_.push_back(gpus_near(topology, nic));
  }

  // The best that this setting allows; no channels where it allows none.
  std::vector<Channel> find(SearchSetting const& setting) {
    setting_ = setting;
    best_.clear();
    best_hops_ = 0;
    steps_left_ = several_nodes_ && setting.same_channels ? kStepsOfSameChannels : kSteps;
    if (several_nodes_) nics_ = nics_in_reach();
    found_.clear();
    add_channel();
    if (best_.size() < setting.min) best_.clear();
    return std::move(best_);
  }

  [[nodiscard]] bool is_optimal(std::size_t channels, double speed) const {
    bool const fills = static_cast<double>(channels) * speed >= topology_.total_rate();
    return channels >= setting_.max || fills;
  }

 private:
  // search.cc: NCCL_SEARCH_TIMEOUT and that of one order for all channels.
  static constexpr int kSteps = 1 << 14;
  static constexpr int kStepsOfSameChannels = 1 << 8;

  // Takes (or gives back) what one hop needs of its links.
  enum class From : std::uint8_t { Gpu, Nic };
  bool take(Path const& path, double sign, From from = From::Gpu) {
    auto const need = [&](std::uint32_t link) {
      return from == From::Gpu ? share_of(topology_, path, link, setting_.speed) : setting_.speed;
    };
    for (std::size_t i = 0; i < path.links.size(); ++i) {
      auto& left = left_[path.links[i]];
      if (sign > 0 && std::round(left * 1000) < std::round(need(path.links[i]) * 1000)) {
        for (std::size_t k = 0; k < i; ++k) left_[path.links[k]] += need(path.links[k]);
        return false;
      }
      left -= sign * need(path.links[i]);
    }
    return true;
  }

  [[nodiscard]] bool is_done() const {
    return steps_left_ <= 0 || (!best_.empty() && is_optimal(best_.size(), setting_.speed));
  }

  void keep() {
    auto hops = std::size_t{0};
    for (auto const& channel : found_) hops += hops_of(channel);
    if (found_.size() < best_.size() || (found_.size() == best_.size() && hops >= best_hops_ && !best_.empty())) return;
    best_ = found_;
    best_hops_ = hops;
  }

  void add_channel() {
    if (found_.size() >= setting_.max) return;
    if (!several_nodes_) {
      channel_ = {{0}, 0, 0};
      return next_gpu();
    }
    auto const first = found_.size();
    for (std::size_t i = 0; i < nics_.size(); ++i) {
      auto const nic = nics_[(first + i) % nics_.size()];
      if (goes_back() && nic != found_.back().nic_out) continue;
      for (auto const gpu : repeats_order() ? std::span(found_.back().gpus).first(1) : std::span(near_[nic])) {
        auto const& in = topology_.from_nic(nic, gpu);
        if (in.type > setting_.inter || !take(in, 1, From::Nic)) continue;
        channel_ = {{gpu}, nic, nic};
        next_gpu();
        take(in, -1, From::Nic);
        if (is_done()) return;
      }
    }
  }

  // Whether the next channel has the order of the last: over the network it then starts at the same GPU.
  [[nodiscard]] bool repeats_order() const { return several_nodes_ && setting_.same_channels && !found_.empty(); }

  // Whether the next channel of alternating rings goes the way of the last one back.
  [[nodiscard]] bool goes_back() const {
    return setting_.rail_change == RailChange::Alternating && found_.size() % 2 == 1;
  }

  [[nodiscard]] std::size_t hops_of(Channel const& channel) const {
    auto const& gpus = channel.gpus;
    std::size_t hops = 0;
    for (std::size_t i = 0; i + 1 < gpus.size(); ++i) hops += topology_.between(gpus[i], gpus[i + 1]).links.size();
    if (!several_nodes_) return hops + topology_.between(gpus.back(), gpus.front()).links.size();
    return hops + topology_.from_nic(channel.nic, gpus.front()).links.size() +
           topology_.to_nic(gpus.back(), channel.nic_out).links.size();
  }

  // The GPUs' own NICs, then those that the setting lets a GPU reach (search.cc: ncclTopoSelectNets).
  [[nodiscard]] std::vector<std::size_t> nics_in_reach() const {
    auto nics = own_nics_;
    std::vector<bool> taken(topology_.nics().size(), false);
    for (auto const nic : nics) taken[nic] = true;
    for (std::size_t nic = 0; nic < taken.size(); ++nic)
      for (std::size_t gpu = 0; gpu < topology_.gpus().size() && !taken[nic]; ++gpu) {
        taken[nic] = topology_.to_nic(gpu, nic).type <= setting_.inter;
        if (taken[nic]) nics.push_back(nic);
      }
    return nics;
  }
  [[nodiscard]] static std::vector<std::size_t> own_nics_of(Topology const& topology) {
    std::vector<std::size_t> nics;
    std::vector<bool> taken(topology.nics().size(), false);
    for (std::size_t gpu = 0; gpu < topology.gpus().size(); ++gpu)
      for (std::size_t channel = 0; channel < topology.nearest_nics(gpu); ++channel) {
        auto const nic = topology.own_nic(gpu, channel);
        if (!taken[nic]) nics.push_back(nic);
        taken[nic] = true;
      }
    return nics;
  }
  // Those that no other GPU is nearer than, the one whose own NIC it is first (topo.cc: ncclTopoGetLocal).
  [[nodiscard]] static std::vector<std::size_t> gpus_near(Topology const& topology, std::size_t nic) {
    std::vector<std::tuple<double, PathType, bool, std::size_t>> near;  // the last: the GPU
    for (std::size_t gpu = 0; gpu < topology.gpus().size(); ++gpu) {
      auto const& path = topology.from_nic(nic, gpu);
      near.emplace_back(-path.rate, path.type, topology.own_nic(gpu) != nic, gpu);
    }
    std::sort(near.begin(), near.end());
    std::vector<std::size_t> gpus;
    for (auto const& [rate, type, is_others, gpu] : near)
      if (rate == std::get<0>(near.front()) && type == std::get<1>(near.front())) gpus.push_back(gpu);
    return gpus;
  }

  void next_gpu() {
    if (--steps_left_ <= 0) return;
    auto const n = topology_.gpus().size();
    auto const at = channel_.gpus.back();
    if (channel_.gpus.size() == n) return close();
    for (auto const next : candidates(at)) {
      auto const& path = topology_.between(at, next);
      if (path.type > setting_.intra || !take(path, 1)) continue;
      channel_.gpus.push_back(next);
      next_gpu();
      channel_.gpus.pop_back();
      take(path, -1);
      if (is_done()) return;
    }
  }

  using Candidates = InlineVector<std::size_t, 16>;
  [[nodiscard]] Candidates candidates(std::size_t at) const {
    Candidates all;
    if (repeats_order()) {
      all.push_back(found_.back().gpus[channel_.gpus.size()]);
      return all;
    }
    auto const n = topology_.gpus().size();
    auto const is_free = [&](std::size_t gpu) {
      return std::find(channel_.gpus.begin(), channel_.gpus.end(), gpu) == channel_.gpus.end();
    };
    if (topology_.has_nvswitch()) {
      for (auto const next : {(at + n - 1) % n, (at + 1) % n})
        if (is_free(next) && (all.empty() || all.back() != next)) all.push_back(next);
      return all;
    }
    for (std::size_t step = 1; step < n; ++step)
      if (auto const next = (at + step) % n; is_free(next)) all.push_back(next);
    std::sort(all.begin(), all.end(), [&](auto a, auto b) {
      auto const& to_a = topology_.between(at, a);
      auto const& to_b = topology_.between(at, b);
      return std::tuple(-room(to_a), to_a.links.size(), (a + n - at) % n) <
             std::tuple(-room(to_b), to_b.links.size(), (b + n - at) % n);
    });
    return all;
  }
  [[nodiscard]] double room(Path const& path) const {
    double least = path.rate;
    for (auto const link : path.links) least = std::min(least, left_[link]);
    return least;
  }

  // The ring's last hop: to its first GPU, or out to the network.
  void close() {
    auto const last = channel_.gpus.back();
    if (!several_nodes_) return close_by(topology_.between(last, channel_.gpus.front()), setting_.intra);
    for (auto const nic : nics_out(last)) {
      channel_.nic_out = nic;
      close_by(topology_.to_nic(last, nic), setting_.inter);
      if (is_done()) return;
    }
  }

  using Nics = InlineVector<std::size_t, 16>;
  // By which a channel may leave the node from its last GPU (search.cc: ncclTopoSearchCheckNet): the GPU's own ones
  // first, then from near to far.
  [[nodiscard]] Nics nics_out(std::size_t gpu) const {
    Nics nics;
    if (setting_.rail_change == RailChange::None || goes_back()) {
      nics.push_back(goes_back() ? found_.back().nic : channel_.nic);
      return nics;
    }
    auto const add = [&](std::size_t nic) {
      if (std::find(nics.begin(), nics.end(), nic) == nics.end()) nics.push_back(nic);
    };
    for (std::size_t channel = 0; channel < topology_.nearest_nics(gpu); ++channel)
      add(topology_.own_nic(gpu, channel));
    for (auto type = PathType::Local; type <= setting_.inter; type = farther(type))
      for (std::size_t nic = 0; nic < topology_.nics().size(); ++nic)
        if (topology_.to_nic(gpu, nic).type == type) add(nic);
    return nics;
  }

  void close_by(Path const& path, PathType farthest) {
    if (path.type > farthest || !take(path, 1)) return;
    found_.push_back(channel_);
    auto const copies = setting_.same_channels && !several_nodes_ ? repeat() : 0;
    keep();
    if (!is_done() && !(setting_.same_channels && !several_nodes_)) {
      auto const own = channel_;
      add_channel();
      channel_ = own;
    }
    for (std::size_t i = 0; i < copies; ++i) give_back();
    found_.resize(found_.size() - copies);
    found_.pop_back();
    take(path, -1);
  }

  // As many more channels of this order as fit.
  std::size_t repeat() {
    std::size_t copies = 0;
    while (found_.size() < setting_.max && take_ring()) {
      found_.push_back(channel_);
      ++copies;
    }
    return copies;
  }
  bool take_ring() {
    auto const n = channel_.gpus.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (take(topology_.between(channel_.gpus[i], channel_.gpus[(i + 1) % n]), 1)) continue;
      for (std::size_t k = 0; k < i; ++k) take(topology_.between(channel_.gpus[k], channel_.gpus[k + 1]), -1);
      return false;
    }
    return true;
  }
  void give_back() {
    auto const n = channel_.gpus.size();
    for (std::size_t i = 0; i < n; ++i) take(topology_.between(channel_.gpus[i], channel_.gpus[(i + 1) % n]), -1);
  }

  Topology const& topology_;
  bool several_nodes_;
  std::vector<std::size_t> own_nics_;           // that a GPU calls its own
  std::vector<std::size_t> nics_;               // that the setting allows
  std::vector<std::vector<std::size_t>> near_;  // the GPUs near each NIC
  SearchSetting setting_;
  std::vector<double> left_;  // of each link
  std::vector<Channel> found_, best_;
  Channel channel_;
  std::size_t best_hops_ = 0;
  int steps_left_ = 0;
};

// ncclTopoCompute: which settings are tried, in which order.
class RingPasses {
 public:
  RingPasses(Topology const& topology, bool several_nodes, Library const& library, Environment const& environment)
      : topology_(topology),
        library_(library),
        several_nodes_(several_nodes),
        speeds_(speeds(topology.min_capability(), several_nodes, library)),
        max_(max_channels(library)),
        rail_changes_(rail_changes(topology, several_nodes, library, environment)),
        search_(topology, several_nodes) {}

  Graph run() {
    first_pass();
    if (best_.channels.empty()) return fallback();
    duplicate_channels(best_, topology_.min_capability(), max_);
    second_pass();
    return std::move(best_);
  }

 private:
  // In the order in which they are tried at each speed. Rings alternate since 2.20, from 2.20 to 2.22 also where
  // NCCL_CROSS_NIC=1 asks for a change.
  static std::vector<RailChange> rail_changes(Topology const& topology, bool several_nodes, Library const& library,
                                              Environment const& environment) {
    constexpr int kAsNeeded = 2;
    auto const asked = number_in(environment, "NCCL_CROSS_NIC").value_or(kAsNeeded);
    if (!several_nodes || topology.nics().size() < 2 || asked == 0) return {RailChange::None};
    if (asked == 1) return {library.minor >= 20 && library.minor <= 22 ? RailChange::Alternating : RailChange::Any};
    return {RailChange::None, library.minor >= 20 ? RailChange::Alternating : RailChange::Any};
  }

  // From the fastest speed down, until one fills the links or is less than half of what was found.
  void first_pass() {
    auto const fastest = std::min(topology_.max_rate(several_nodes_), topology_.total_rate());
    std::size_t at = 0;
    while (at + 1 < speeds_.size() && speeds_[at] > fastest) ++at;
    for (; at < speeds_.size() && !is_optimal_; ++at) {
      if (!best_.channels.empty() && speeds_[at] / best_.rate <= .49) return;
      for (auto const rail_change : rail_changes_) try_types(speeds_[at], rail_change);
    }
  }

  // Nearer links first; farther ones only while nothing nearer was found, but for a GPU that relays to a NIC.
  void try_types(double speed, RailChange rail_change) {
    static std::vector<PathType> const far{PathType::Pix, PathType::Pxb, PathType::P2c,
                                           PathType::Pxn, PathType::Phb, PathType::Sys};
    static std::vector<PathType> const none{PathType::Pix};
    // One GPU of a node reaches no other, and is tried all the same.
    auto const farthest = std::max(PathType::Nvl, topology_.farthest_gpus());
    for (auto const inter : several_nodes_ ? far : none) {
      if (is_optimal_) return;
      if (!best_.channels.empty() && inter > std::max(best_.inter, PathType::Pxn)) return;
      auto const last = several_nodes_ ? std::min(farthest, inter) : farthest;
      for (auto intra = PathType::Nvl; intra <= last; intra = farther(intra)) {
        if (is_optimal_ || (!best_.channels.empty() && intra > best_.intra)) break;
        try_setting({speed, intra, inter, true, rail_change, max_, 1});
        bool const pointless = topology_.vendor() == CpuVendor::Amd && intra == PathType::Sys;
        if (!pointless && !is_optimal_) try_setting({speed, intra, inter, false, rail_change, max_, 1});
      }
    }
  }

  void try_setting(SearchSetting const& setting) {
    auto channels = search_.find(setting);
    auto const found = static_cast<double>(channels.size()) * setting.speed;
    // ncclTopoCompareGraphs before 2.20: rings that change rails have to be worth 15 % more, those that do not may be
    // worth as much less.
    auto const crosses = [](RailChange change) { return change == RailChange::None ? 0 : 1; };
    auto const dearer = library_.minor < 20 ? .15 * (crosses(setting.rail_change) - crosses(best_.rail_change)) : 0;
    auto const best = static_cast<double>(best_.channels.size()) * best_.rate * (1 + dearer);
    if (channels.empty() || found <= best + 1e-9) return;
    best_ = {std::move(channels),   setting.speed,       0,    setting.intra, setting.inter,
             setting.same_channels, setting.rail_change, false};
    is_optimal_ = search_.is_optimal(best_.channels.size(), best_.rate);
  }

  [[nodiscard]] Graph fallback() const {
    std::vector<std::size_t> order(topology_.gpus().size());
    std::iota(order.begin(), order.end(), 0);
    Channel channel{order, 0, 0};
    if (several_nodes_ && !topology_.nics().empty())
      channel = {order, topology_.own_nic(order.front()), topology_.own_nic(order.back())};
    return {{channel}, 0.1, 0, PathType::Sys, PathType::Sys, true, RailChange::None, true};
  }

  // The same number of channels, faster.
  void second_pass() {
    auto const wanted = best_.channels.size();
    auto at = static_cast<std::size_t>(
        std::find_if(speeds_.begin(), speeds_.end(), [&](double speed) { return speed <= best_.rate; }) -
        speeds_.begin());
    while (at > 0) {
      --at;
      auto channels =
          search_.find({speeds_[at], best_.intra, best_.inter, best_.same_channels, best_.rail_change, wanted, wanted});
      if (channels.size() < wanted) return;
      best_.channels = std::move(channels);
      best_.rate = speeds_[at];
    }
  }

  Topology const& topology_;
  Library const& library_;
  bool several_nodes_;
  std::vector<double> speeds_;
  std::size_t max_;
  std::vector<RailChange> rail_changes_;
  RingSearch search_;
  Graph best_;
  bool is_optimal_ = false;
};

}  // namespace

void duplicate_channels(Graph& graph, int capability, std::size_t max) {
  auto const n = graph.channels.size();
  if (n == 0 || graph.rate < 25 || (capability > 80 && graph.rate < 50 && n > 4)) return;
  auto const doubled = std::min(2 * n, max);
  auto const times = (doubled + n - 1) / n;
  for (std::size_t i = n; i < doubled; ++i) graph.channels.push_back(graph.channels[i - n]);
  graph.rate /= static_cast<double>(times);
}

Graph search_rings(Topology const& topology, bool several_nodes, Library const& library,
                   Environment const& environment) {
  return RingPasses(topology, several_nodes, library, environment).run();
}

Graph search_nvls(Topology const& topology, bool several_nodes, Library const& library) {
  auto const g = topology.gpus().size();
  double inter_rate = 0;
  auto const heads = std::min<std::size_t>(g, max_channels(library));
  for (auto const speed : speeds(topology.min_capability(), several_nodes, library)) {
    if (several_nodes && speed > topology.max_rate(true) + 1e-9) continue;
    if (inter_rate == 0) inter_rate = speed;  // search.cc, second pass: what the NIC has room for
    // A channel takes one unit between each GPU and the switch, and two at its head.
    if (static_cast<double>(heads + 1) * speed > topology.nvlink_rate() + 1e-9) continue;
    Graph graph{{},   speed, std::min(inter_rate, 2 * speed), PathType::Nvl, PathType::Pix, true, RailChange::None,
                false};
    for (std::size_t head = 0; head < heads; ++head)
      graph.channels.push_back({{head}, topology.own_nic(head), topology.own_nic(head)});
    return graph;
  }
  return {};
}

}  // namespace lanewise::nccl
