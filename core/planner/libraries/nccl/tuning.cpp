#include "core/planner/libraries/nccl/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "lanewise/io/error.hpp"

namespace lanewise::nccl {
namespace {

using Row = std::array<double, 3>;  // LL, LL128, Simple

// tuning.cc: baseLatencies and hwLatencies, in us.
constexpr std::array<Row, 2> kBase{{{6.8, 14, 8.4}, {6.6, 14, 8.4}}};  // tree, ring
constexpr std::array<Row, 2> kNvlinkStep{{{.6, 1.25, 4.0}, {.6, 1.9, 3.4}}};
constexpr std::array<Row, 2> kPciStep{{{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}}};
constexpr std::array<Row, 2> kNetStep{{{5.0, 8.5, 14}, {2.7, 4.0, 14}}};
// CollNet direct and chain, by Simple alone: over NVLink and PCIe, over the network, and what each further GPU of a
// node costs by the direct one. Before 2.19 NCCL counted the second.
struct CollNetSteps {
  double direct, chain, direct_in_network, chain_in_network, of_gpu;
};
constexpr CollNetSteps kCollNet{3.7, 2.8, 31, 30, .4};
constexpr CollNetSteps kEarlierCollNet{8.0, 4.75, 10.7, 14, .5};
constexpr double kNvlsInNetwork = 18;
constexpr double kNvlsBase = 25;
constexpr double kPatBase = 8;

enum class Generation : std::uint8_t { Volta, Ampere, Hopper, Blackwell };
Generation generation_of(int capability) {
  if (capability >= 100) return Generation::Blackwell;
  if (capability >= 90) return Generation::Hopper;
  return capability >= 80 ? Generation::Ampere : Generation::Volta;
}

// By generation, and by one, two and more nodes (tuning.cc: llMaxBws, perChMaxRingLL128Bws, ...).
struct Caps {
  double ll;
  Row ring_ll128, tree_ll128, tree_simple, nvls_tree;
};
Caps caps_of_blackwell(Library const& library) {
  constexpr double kLL = 282;
  if (library.minor < 28) return {kLL, {73.4, 73.4, 73.4}, {73.4, 73.4, 58}, {77.4, 82.8, 72}, {0, 0, 0}};
  Row const ring = library.minor == 28 ? Row{73.4, 34.6, 73.4} : Row{40, 40, 40};
  return {kLL, ring, {55.6, 31.67, 20}, {70, 42.8, 24}, {0, 96, library.minor >= 30 ? 80 : 43.8}};
}
Caps caps_of(Generation generation, Library const& library) {
  switch (generation) {
    case Generation::Volta: return {39, {20, 20, 20}, {20, 20, 20}, {26.5, 18.5, 10}, {0, 0, 0}};
    case Generation::Ampere: return {87.7, {20, 20, 20}, {20, 20, 20}, {24, 23.6, 17.8}, {0, 0, 0}};
    case Generation::Hopper:
      return {
          library.minor >= 21 ? 141 : 87.7, {36.7, 36.7, 36.7}, {36.7, 36.7, 29}, {38.7, 41.4, 36}, {0, 57.7, 45.5}};
    case Generation::Blackwell: return caps_of_blackwell(library);
  }
  return {};
}

double ll_cap(Communicator const& communicator, Topology const& topology, Library const& library) {
  if (communicator.nodes == 1) return caps_of(generation_of(topology.max_capability()), library).ll;
  bool const amd = topology.vendor() == CpuVendor::Amd;
  if (communicator.nodes == 2) return amd ? 22.5 : 39;
  return amd ? 19 : 20.4;
}

// By which factor a tree's rate is lower at a size: one for each power of two from 64 B (tuning.cc:
// treeCorrectionFactor).
constexpr std::array<std::array<double, 24>, 3> kTreeCorrection{
    {{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
     {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};

// Whether a list such as NCCL_ALGO=Ring,Tree or ^LL128 allows a name; without the variable all are allowed.
bool is_allowed(Environment const& environment, std::string const& variable, std::string_view name) {
  auto const found = environment.find(variable);
  if (found == environment.end()) return true;
  auto text = found->second;
  bool const excludes = !text.empty() && text.front() == '^';
  if (excludes) text.erase(0, 1);
  std::stringstream list(text);
  std::string one;
  auto const lower = [](std::string_view word) {
    std::string result(word);
    std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
    return result;
  };
  bool listed = false;
  while (std::getline(list, one, ',')) listed = listed || lower(one) == lower(name);
  return listed != excludes;
}

bool is_collnet(Cell const& cell) {
  return cell.algorithm == AlgorithmKind::CollNetDirect || cell.algorithm == AlgorithmKind::CollNetChain;
}

class Tuner {
 public:
  Tuner(CollectiveOp op, Communicator const& communicator, Topology const& topology, Library const& library,
        Environment const& environment)
      : op_(op),
        c_(communicator),
        topology_(topology),
        library_(library),
        environment_(environment),
        caps_(caps_of(generation_of(topology.min_capability()), library)) {}

  [[nodiscard]] Cell ring(Protocol protocol) const {
    auto const n = static_cast<double>(c_.ranks);
    auto const channels = static_cast<double>(c_.ring.channels.size());
    double bus = channels * c_.ring.rate;
    if (protocol == Protocol::LL) bus = std::min(ll_cap(c_, topology_, library_), bus * ll_share());
    if (protocol == Protocol::LL128) bus = std::min(bus * .92, channels * caps_.ring_ll128.at(by_nodes()));
    auto const steps = op_ == CollectiveOp::AllReduce ? 2 * (n - 1) : has_root(op_) ? n : n - 1;
    auto const chained = hops_latency(protocol, topology_.plugin_latency_us());
    auto const counted = has_root(op_) ? rooted_latency(protocol)
                                       : hops_latency(protocol, message_us(static_cast<std::size_t>(protocol)));
    bool const has_plateau = protocol == Protocol::Simple && c_.nodes > 1 && op_ == CollectiveOp::AllReduce;
    return {.algorithm = AlgorithmKind::Ring,
            .protocol = protocol,
            .latency_us = counted,
            .rate = bus * n / steps,
            .chained_latency_us = chained,
            .link_latency_us = steps_within_nodes() * intra(1, static_cast<std::size_t>(protocol)),
            .plateau = !has_plateau                      ? 1
                       : topology_.min_capability() < 80 ? 1.9
                                                         : 1.4};
  }

  [[nodiscard]] Cell tree(Protocol protocol) const {
    auto const channels = static_cast<double>(c_.ring.channels.size());
    auto const at = by_nodes();
    double bus = std::min(channels * c_.tree_rate * .92, channels * caps_.tree_simple.at(at));
    if (protocol == Protocol::LL) bus = std::min(bus * (1 / 3.8), ll_cap(c_, topology_, library_));
    if (protocol == Protocol::LL128)
      bus = std::min(bus * (c_.nodes == 1 ? 7.0 / 9 : 120.0 / 128), channels * caps_.tree_ll128.at(at));
    if (c_.plain_trees && library_.minor >= 26) bus *= .85;
    auto const p = static_cast<std::size_t>(protocol);
    auto const hops = static_cast<double>(c_.per_node - 1);
    auto const levels = std::log2(static_cast<double>(c_.nodes));
    auto const of_hops = kBase[0][p] + 2 * (hops * intra(0, p) + levels * kNetStep[0][p]);
    // Before 2.23 NCCL counted the copy of a chunk in, and chose trees less often.
    constexpr double kEarlierSimpleStep = 28;
    bool const is_earlier = protocol == Protocol::Simple && library_.minor < 23;
    auto const counted = is_earlier ? 2 * (hops + levels) * kEarlierSimpleStep : of_hops;
    return {.algorithm = AlgorithmKind::Tree,
            .protocol = protocol,
            .latency_us = counted + 2 * levels * message_us(p),
            .rate = bus * .5,
            .chained_latency_us = of_hops + 2 * levels * topology_.plugin_latency_us(),
            .link_latency_us = 2 * hops * intra(0, p),
            .is_corrected = true};
  }

  // The heads take what all GPUs of their node have, the network adds, and they give the sum to all.
  [[nodiscard]] Cell collnet_direct() const {
    auto const& graph = c_.collnet->direct;
    auto const channels = static_cast<double>(graph.channels.size());
    auto const g = static_cast<double>(c_.per_node);
    double rate = g * std::min(graph.rate, .9 * graph.inter_rate);
    if (op_ == CollectiveOp::AllReduce) {
      auto const gpus_of_nic = g / channels;
      rate = channels * graph.rate / (gpus_of_nic - (gpus_of_nic - 1) / 2) * .5;
      if (topology_.min_capability() >= 90) rate *= .85;
    }
    auto const& steps = collnet_steps();
    auto const within = 2 * (std::min(1.0, g - 1) * steps.direct + (g - 1) * steps.of_gpu);
    return collnet_cell(AlgorithmKind::CollNetDirect, within, steps.direct_in_network, rate);
  }
  // A chain through a node's GPUs to the network, and back.
  [[nodiscard]] Cell collnet_chain() const {
    auto const rate = static_cast<double>(c_.ring.channels.size()) * c_.collnet->chain_rate * .5;
    auto const& steps = collnet_steps();
    auto const within = 2 * static_cast<double>(c_.per_node - 1) * steps.chain;
    return collnet_cell(AlgorithmKind::CollNetChain, within, steps.chain_in_network, rate);
  }

  [[nodiscard]] Cell nvls(bool tree) const {
    auto const levels = tree ? std::log2(static_cast<double>(c_.nodes)) : 0;
    auto const in_network = !tree && c_.nodes > 1 ? kNvlsInNetwork + message_us(simple()) : 0;
    auto const of_hops = kNvlsBase + (tree ? nvls_tree_hops_us(c_.nodes) : in_network);
    constexpr double kEarlierHop = 14;
    auto const earlier = (library_.minor < 19 ? 23 : kNvlsBase) + 2 * levels * kEarlierHop + in_network;
    auto const counted = library_.minor < 28 ? earlier : of_hops;
    bool const on_x86 = topology_.vendor() == CpuVendor::Intel || topology_.vendor() == CpuVendor::Amd;
    return {.algorithm = tree ? AlgorithmKind::NvlsTree : AlgorithmKind::Nvls,
            .protocol = Protocol::Simple,
            .latency_us = counted + 2 * levels * message_us(simple()),
            .rate = library_.minor < 28 ? earlier_nvls_rate(tree) : nvls_rate(tree),
            .chained_latency_us = of_hops + 2 * levels * topology_.plugin_latency_us(),
            .is_corrected = tree && library_.minor >= 29 && topology_.min_capability() >= 100 && on_x86};
  }

  // A binomial tree from every rank, the farthest hop first (Jeaugey, "PAT: a new algorithm for all-gather and
  // reduce-scatter operations at scale", 2025).
  [[nodiscard]] Cell pat() const {
    auto const n = static_cast<double>(c_.ranks);
    auto const rate = .75 * static_cast<double>(c_.ring.channels.size()) * c_.ring.rate;
    auto const hops = std::floor(std::log2(static_cast<double>(c_.nodes)));
    auto const latency = kPatBase + hops * (between_nodes(simple()) + message_us(simple())) / 3.5 + 2.8 * n;
    return {AlgorithmKind::Pat, Protocol::Simple, latency, rate};
  }

  [[nodiscard]] bool allows_ll128() const {
    bool const past_c2c = number_in(environment_, "NCCL_LL128_C2C").value_or(1) != 0;
    auto const far = topology_.min_capability() >= 90 && past_c2c ? PathType::Pxn : PathType::Pxb;
    return c_.ring.intra <= PathType::Nvb && (c_.nodes == 1 || c_.ring.inter <= far) &&
           topology_.min_capability() >= 70 && topology_.min_capability() == topology_.max_capability();
  }
  [[nodiscard]] bool allows_nvls() const {
    return topology_.has_nvswitch() && topology_.min_capability() >= 90 && c_.per_node >= 2 &&
           !c_.nvls.channels.empty();
  }
  // Where the network adds up what several nodes have; parts of an all-gather or a reduce-scatter, which the plugin
  // does since 2.20, only where every GPU is a head.
  [[nodiscard]] bool allows_collnet() const {
    if (!c_.collnet) return false;
    if (op_ == CollectiveOp::AllReduce) return true;
    bool const patterned = op_ == CollectiveOp::AllGather || op_ == CollectiveOp::ReduceScatter;
    return patterned && library_.minor >= 20 && head_count(*c_.collnet) == c_.per_node;
  }
  [[nodiscard]] bool allows_pat() const {
    return library_.minor >= 23 && c_.per_node == 1 && c_.nodes > 1 && topology_.min_capability() >= 60 &&
           number_in(environment_, "NCCL_PAT_ENABLE").value_or(2) != 0;
  }

 private:
  static constexpr std::size_t simple() { return static_cast<std::size_t>(Protocol::Simple); }
  [[nodiscard]] CollNetSteps const& collnet_steps() const { return library_.minor < 19 ? kEarlierCollNet : kCollNet; }
  [[nodiscard]] Cell collnet_cell(AlgorithmKind algorithm, double within, double in_network, double rate) const {
    return {.algorithm = algorithm,
            .protocol = Protocol::Simple,
            .latency_us = within + in_network + message_us(simple()),
            .rate = rate,
            .chained_latency_us = within + in_network + topology_.plugin_latency_us(),
            .link_latency_us = within};
  }

  // Of a table by one, two and more nodes.
  [[nodiscard]] std::size_t by_nodes() const { return std::min<std::size_t>(c_.nodes, 3) - 1; }

  [[nodiscard]] double nvls_rate(bool tree) const {
    auto const heads = static_cast<double>(c_.nvls.channels.size());
    auto const n = static_cast<double>(c_.ranks);
    auto const g = static_cast<double>(c_.per_node);
    bool const all_reduce = op_ == CollectiveOp::AllReduce;
    auto const share = (topology_.min_capability() >= 100 ? .74 : .85) * (heads - 1) / heads;
    double rate = c_.nvls.rate * share * (all_reduce ? 2 : (g - 1) / g);
    if (!tree && c_.nodes > 1) rate = std::min(rate, c_.nvls.inter_rate);
    if (tree) rate = std::min({rate, c_.nvls.inter_rate * (c_.nodes == 2 ? 2 : 1), caps_.nvls_tree.at(by_nodes())});
    if (!all_reduce && c_.nodes > 1) return heads * rate;
    return heads * rate * n / (all_reduce ? 2 * (n - 1) : n - 1);
  }
  // Before 2.28.
  [[nodiscard]] double earlier_nvls_rate(bool tree) const {
    auto const heads = static_cast<double>(c_.nvls.channels.size());
    auto const inter = c_.nodes == 2 ? c_.nvls.inter_rate : c_.nvls.inter_rate / 2;
    auto const rate = tree           ? std::min(c_.nvls.rate, inter)
                      : c_.nodes > 1 ? std::min(c_.nvls.rate, c_.nvls.inter_rate)
                                     : c_.nvls.rate;
    return heads * rate * (op_ == CollectiveOp::AllReduce ? 5.0 / 6 : 1);
  }

  // Words with flags carry half. Before 2.21 NCCL counted less.
  [[nodiscard]] double ll_share() const {
    if (library_.minor >= 21) return 1.0 / 2;
    return c_.nodes > 1 || op_ == CollectiveOp::AllReduce ? 1.0 / 4 : 1.0 / 3;
  }
  [[nodiscard]] double intra(std::size_t algorithm, std::size_t protocol) const {
    return (c_.ring.intra == PathType::Nvl ? kNvlinkStep : kPciStep)[algorithm][protocol];
  }
  [[nodiscard]] double between_nodes(std::size_t protocol) const {
    return kNetStep[c_.per_node == 1 ? 0 : 1][protocol];
  }
  // What NCCL counts for a message by what the NICs' plugin tells it: by Simple twice, for a flush after it.
  [[nodiscard]] double message_us(std::size_t protocol) const {
    return topology_.plugin_latency_us() * (protocol == static_cast<std::size_t>(Protocol::Simple) ? 2 : 1);
  }
  [[nodiscard]] double rooted_latency(Protocol protocol) const {
    auto const p = static_cast<std::size_t>(protocol);
    if (c_.ring.same_channels) return kBase[1][p] + hop_us(1, p);
    // Simple waits for a chunk, which NCCL counts as a tree's hop.
    return kBase[1][p] + static_cast<double>(c_.ranks) * hop_us(protocol == Protocol::Simple ? 0 : 1, p);
  }
  // A hop of a tree (0) or a ring (1) of the slowest kind there is.
  [[nodiscard]] double hop_us(std::size_t algorithm, std::size_t protocol) const {
    return c_.nodes > 1 ? kNetStep.at(algorithm).at(protocol) : intra(algorithm, protocol);
  }
  // How often data go around a ring.
  [[nodiscard]] double rounds() const { return op_ == CollectiveOp::AllReduce ? 2 : 1; }
  // A ring's steps within nodes.
  [[nodiscard]] double steps_within_nodes() const {
    return rounds() * static_cast<double>(c_.nodes * (c_.per_node - 1));
  }
  // `message`: of the plugin's latency, for each step between nodes.
  [[nodiscard]] double hops_latency(Protocol protocol, double message) const {
    auto const p = static_cast<std::size_t>(protocol);
    auto const between = rounds() * static_cast<double>(c_.nodes - 1);
    double overhead = 0;
    if (c_.nodes > 1) overhead = network_overhead_us() * (protocol == Protocol::Simple ? 3.0 : 1.0);
    return kBase[1][p] + steps_within_nodes() * std::max(intra(1, p), overhead) +
           between * (between_nodes(p) + message);
  }

  [[nodiscard]] double network_overhead_us() const {
    if (auto const own = number_in(environment_, "NCCL_NET_OVERHEAD")) return *own * 1e-3;  // of ns
    return topology_.vendor() == CpuVendor::Amd ? 2 : 1;
  }

  CollectiveOp op_;
  Communicator const& c_;
  Topology const& topology_;
  Library const& library_;
  Environment const& environment_;
  Caps caps_;
};

}  // namespace

std::string_view to_string(AlgorithmKind algorithm) {
  constexpr std::array<std::string_view, 7> kNames{"Tree",     "Ring", "CollNetDirect", "CollNetChain", "NVLS",
                                                   "NVLSTree", "PAT"};
  return kNames.at(static_cast<std::size_t>(algorithm));
}

std::vector<Cell> cells(CollectiveOp op, Communicator const& communicator, Topology const& topology,
                        Library const& library, Environment const& environment) {
  Tuner const tuner(op, communicator, topology, library, environment);
  std::vector<Cell> all;
  auto const add = [&](Cell const& cell) {
    if (is_allowed(environment, "NCCL_ALGO", to_string(cell.algorithm)) &&
        is_allowed(environment, "NCCL_PROTO", to_string(cell.protocol)))
      all.push_back(cell);
  };
  for (auto const protocol : {Protocol::LL, Protocol::LL128, Protocol::Simple}) {
    if (protocol == Protocol::LL128 && !tuner.allows_ll128()) continue;
    add(tuner.ring(protocol));
    if (op == CollectiveOp::AllReduce) add(tuner.tree(protocol));
  }
  bool const enabled = number_in(environment, "NCCL_NVLS_ENABLE").value_or(2) != 0 && tuner.allows_nvls();
  bool const does = op == CollectiveOp::AllReduce || op == CollectiveOp::AllGather || op == CollectiveOp::ReduceScatter;
  if (tuner.allows_collnet()) {
    if (!communicator.collnet->direct.channels.empty()) add(tuner.collnet_direct());
    if (op == CollectiveOp::AllReduce) add(tuner.collnet_chain());
  }
  if (enabled && does && (communicator.nodes == 1 || tuner.allows_collnet())) add(tuner.nvls(false));
  if (enabled && op == CollectiveOp::AllReduce && communicator.nodes > 1) add(tuner.nvls(true));
  bool const patterned = op == CollectiveOp::AllGather || op == CollectiveOp::ReduceScatter;
  if (patterned && tuner.allows_pat()) add(tuner.pat());
  return all;
}

double nvls_in_network_us() { return kNvlsInNetwork; }

double nvls_tree_hops_us(std::size_t nodes) { return 2 * std::log2(static_cast<double>(nodes)) * 20.9; }

double base_latency_us(Cell const& cell) {
  // NVLS: what a call takes besides the rounds, which nccl_plan.cpp counts by themselves.
  constexpr double kNvlsLaunch = 15;
  if (cell.algorithm == AlgorithmKind::Nvls) return kNvlsLaunch;
  if (cell.algorithm == AlgorithmKind::NvlsTree) return kNvlsLaunch;
  if (cell.algorithm == AlgorithmKind::Pat) return kPatBase;
  if (is_collnet(cell)) return 0;
  return kBase[cell.algorithm == AlgorithmKind::Ring ? 1 : 0][static_cast<std::size_t>(cell.protocol)];
}

double nvlink_step_us(Cell const& cell) {
  return kNvlinkStep[cell.algorithm == AlgorithmKind::Ring ? 1 : 0][static_cast<std::size_t>(cell.protocol)];
}

double pcie_step_us(Cell const& cell) {
  return kPciStep[cell.algorithm == AlgorithmKind::Ring ? 1 : 0][static_cast<std::size_t>(cell.protocol)];
}

double time_us(Cell const& cell, double bytes, Communicator const& communicator) {
  double rate = cell.rate;
  double latency = cell.latency_us;
  if (cell.is_corrected) {
    auto const power = static_cast<int>(std::floor(std::log2(std::max(bytes, 1.0) / 64)));
    if (power >= 0 && power < 24)
      rate *= kTreeCorrection[static_cast<std::size_t>(cell.protocol)][static_cast<std::size_t>(power)];
  }
  auto const channels = static_cast<double>(communicator.ring.channels.size());
  if (bytes / (channels * static_cast<double>(communicator.ranks)) >= 64) latency *= cell.plateau;
  return latency + bytes / (1000 * rate);
}

std::optional<Cell> cheapest(std::vector<Cell> const& all, double bytes, Communicator const& communicator) {
  std::optional<Cell> best;
  for (auto const& cell : all)
    if (cell.rate > 0 && (!best || time_us(cell, bytes, communicator) < time_us(*best, bytes, communicator)))
      best = cell;
  return best;
}

int opened_channels(Communicator const& communicator, Topology const& topology, Library const& library,
                    Environment const& environment) {
  int const cap = library.minor >= 25 ? 64 : 32;
  int channels = std::min(2 * static_cast<int>(communicator.ring.channels.size()), cap);
  bool const fills_node = communicator.collnet && communicator.collnet->chain_rate > communicator.ring.rate;
  if (fills_node && communicator.per_node > 1) channels = std::min(channels * 3 / 2, cap);
  if (topology.min_capability() >= 90 && communicator.nodes > 1 && communicator.ring.rate > 45 && channels < 16)
    channels = std::min(2 * channels, cap);
  for (auto const* name : {"NCCL_MIN_NCHANNELS", "NCCL_MIN_CTAS"})
    if (auto const least = number_in(environment, name)) channels = std::max(channels, std::min(*least, cap));
  for (auto const* name : {"NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS"})
    if (auto const most = number_in(environment, name)) channels = std::min(channels, std::max(*most, 1));
  return channels;
}

int nvls_channels(Communicator const& communicator, Topology const& topology, Library const& library,
                  Environment const& environment) {
  int channels = 16;
  if (topology.min_capability() >= 100) channels = communicator.nodes > 1 ? 32 : library.minor >= 27 ? 24 : 16;
  if (auto const own = number_in(environment, "NCCL_NVLS_NCHANNELS")) channels = *own;
  for (auto const* name : {"NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS"})
    if (auto const most = number_in(environment, name)) channels = std::min(channels, std::max(*most, 1));
  return channels;
}

namespace {

// Of a block (tuning.cc: getNthreads).
double threads_of(Cell const& cell, Communicator const& communicator, Environment const& environment) {
  bool const is_ll128 = cell.protocol == Protocol::LL128;
  if (auto const own = number_in(environment, is_ll128 ? "NCCL_LL128_NTHREADS" : "NCCL_NTHREADS"))
    return std::clamp(*own / 32 * 32, is_ll128 ? 160 : 64, is_ll128 ? 640 : 512);
  if (is_ll128 || is_collnet(cell)) return 640;
  bool const is_slow = communicator.ring.rate * static_cast<double>(communicator.ring.channels.size()) <= 12;
  return cell.protocol == Protocol::Simple && cell.algorithm == AlgorithmKind::Ring && is_slow ? 256 : 512;
}

// Below so many bytes a thread, fewer channels are used: of a tree's LL, LL128 and Simple and of a ring's, unless
// NCCL_THREAD_THRESHOLDS says others.
double bytes_of_thread(Cell const& cell, Communicator const& communicator, Environment const& environment) {
  if (is_collnet(cell)) return 512;
  std::array<double, 6> thresholds{8, 8, 64, 8 * static_cast<double>(communicator.ranks), 8, 64};
  if (auto const own = environment.find("NCCL_THREAD_THRESHOLDS"); own != environment.end()) {
    std::stringstream text(own->second);
    for (auto& threshold : thresholds)
      if (double number = 0; text >> number && number >= 0) threshold = number;
  }
  auto const first = cell.algorithm == AlgorithmKind::Ring ? 3U : 0U;
  return thresholds.at(first + static_cast<std::size_t>(cell.protocol));
}

// enqueue.cc: down to 16, 8, 4, ... channels, each time by half as many bytes a thread.
int channels_of_direct(double bytes, int opened, double bytes_of_channel) {
  int channels = opened;
  bool is_few = true;
  for (int least = 16; least >= 1 && is_few; least /= 2)
    while ((is_few = bytes < channels * bytes_of_channel) && channels > least) {
      if (channels == least + least / 2) bytes_of_channel /= 2;
      --channels;
    }
  return channels;
}

}  // namespace

int used_channels(Cell const& cell, double bytes, int opened, Communicator const& communicator, CollectiveOp op,
                  Library const& library, Environment const& environment) {
  if (cell.algorithm == AlgorithmKind::Nvls || cell.algorithm == AlgorithmKind::NvlsTree) return opened;
  auto const threads = threads_of(cell, communicator, environment);
  auto const each = bytes_of_thread(cell, communicator, environment);
  int channels = opened;
  if (cell.algorithm == AlgorithmKind::CollNetDirect)
    channels =
        channels_of_direct(bytes, opened, threads * each * static_cast<double>(head_count(*communicator.collnet)));
  else
    while (channels > 1 && bytes < channels * threads * each) --channels;
  if (library.minor >= 22) {
    double const least = library.minor >= 29 ? 32768 : 16384;
    double traffic = bytes * (op == CollectiveOp::AllReduce ? 2 : 1);
    if (cell.protocol == Protocol::LL && library.minor >= 26) traffic *= 4;
    channels = std::clamp(static_cast<int>(traffic / least), 1, channels);
  }
  return channels;
}

}  // namespace lanewise::nccl
