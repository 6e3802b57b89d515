#include "core/planner/libraries/nccl/nccl_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/machine/library_variables.hpp"
#include "core/model/resources/figures.hpp"
#include "core/planner/collectives/algorithms/double_tree.hpp"
#include "core/planner/libraries/nccl/nvls_rounds.hpp"
#include "core/planner/libraries/nccl/transports.hpp"
#include "core/planner/libraries/nccl/tree_search.hpp"
#include "core/planner/libraries/nccl/tuning.hpp"
#include "core/planner/libraries/steps/library_steps.hpp"
#include "core/planner/libraries/steps/link_shares.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::nccl {
namespace {

class NcclPlan {
 public:
  NcclPlan(Model const& model, Collective const& collective, Library const& library)
      : machine_(model.machine()),
        collective_(collective),
        library_(library),
        environment_(environment_of(machine_)),
        nodes_(gpus_by_node(
            machine_, collective, "NCCL",
            number_in(environment_, "NCCL_MNNVL_ENABLE").value_or(2) == 0 ? NodeOf::Host : NodeOf::NvlinkDomain)),
        topology_(machine_, nodes_.front(), library_, environment_),
        steps_(model, collective, to_string(library), "NCCL"),
        transports_(machine_, library_, environment_, nodes_, topology_, steps_) {
    refuse_unknown_op(collective_.op, "NCCL");
    for (auto const& [name, value] : environment_)
      if (auto const* variable = find_library_variable(name); variable && !variable->why_without_effect.empty())
        remark(fmt::format("{}={} changes nothing of this plan: {}", name, value, variable->why_without_effect));
  }

  Plan make() {
    if (is_exchange(collective_.op))
      exchange();
    else
      decide();
    return steps_.finish();
  }

 private:
  [[nodiscard]] std::size_t per_node() const { return nodes_.front().size(); }
  [[nodiscard]] bool several() const { return nodes_.size() > 1; }
  [[nodiscard]] double bytes() const { return static_cast<double>(collective_.bytes.value()); }
  void remark(std::string text) { steps_.remark(std::move(text)); }
  void take(Cell const& cell) {
    cell_ = cell;
    transports_.take_protocol(cell.protocol);
  }

  // ------------------------------------------------------------------------------------------------ collectives

  void decide() {
    Communicator communicator{collective_.among.size(), nodes_.size(), per_node(), {}, {}, 0, false, {}};
    communicator.ring = search_rings(topology_, several(), library_, environment_);
    communicator.tree_rate = tree_rate(communicator.ring, topology_, nodes_.size(), library_);
    communicator.plain_trees = several() && trees_are_plain(communicator.ring, topology_);
    if (topology_.has_nvswitch()) communicator.nvls = search_nvls(topology_, several(), library_);
    if (number_in(environment_, "NCCL_COLLNET_ENABLE").value_or(0) == 1) add_collnet(communicator);
    auto const all = cells(collective_.op, communicator, topology_, library_, environment_);
    auto const cell = cheapest(all, bytes(), communicator);
    if (!cell) throw PlanError("NCCL_ALGO and NCCL_PROTO leave NCCL no algorithm for this collective");
    auto const of_rings = opened_channels(communicator, topology_, library_, environment_);
    auto opened = of_rings;
    if (cell->algorithm == AlgorithmKind::Nvls || cell->algorithm == AlgorithmKind::NvlsTree)
      opened = nvls_channels(communicator, topology_, library_, environment_);
    if (cell->algorithm == AlgorithmKind::Nvls && several()) opened = std::min(opened, of_rings);
    channels_ = used_channels(*cell, bytes(), opened, communicator, collective_.op, library_, environment_);
    take(*cell);
    auto& choice = steps_.choice();
    choice.algorithm = to_string(cell->algorithm);
    choice.protocol = to_string(cell->protocol);
    choice.channels = channels_;
    explain(communicator, all);
    steps_.begin(nodes_, latency_of_steps(communicator));
    switch (cell->algorithm) {
      case AlgorithmKind::Ring: rings(communicator.ring); break;
      case AlgorithmKind::Tree: trees(communicator.ring); break;
      case AlgorithmKind::CollNetDirect: collnet_direct(*communicator.collnet); break;
      case AlgorithmKind::CollNetChain: collnet_chains(communicator.ring); break;
      case AlgorithmKind::Nvls: nvls(communicator.nvls); break;
      case AlgorithmKind::NvlsTree: nvls_tree(communicator.nvls); break;
      case AlgorithmKind::Pat: binomial_trees(communicator.ring); break;
    }
  }

  void add_collnet(Communicator& communicator) {
    auto const why = why_no_collnet(machine_, nodes_, topology_, communicator.ring, environment_);
    if (why)
      remark("NCCL_COLLNET_ENABLE=1 changes nothing of this plan: " + *why);
    else
      communicator.collnet = search_collnet(topology_, communicator.ring, library_);
  }

  // Launch and the steps that data wait for: as many as NCCL counts, each as long as it takes on this GPU.
  [[nodiscard]] Seconds latency_of_steps(Communicator const& communicator) const {
    Seconds const base(base_latency_us(cell_) * 1e-6);
    if (cell_.algorithm == AlgorithmKind::Nvls)
      return base + time_of_rounds() + Seconds(several() ? nvls_in_network_us() * 1e-6 : 0);
    Seconds const steps(cell_.chained_latency_us * 1e-6 - base.value());
    // Steps over the network or PCIe take their time there, not in the GPU.
    bool const over_pcie = !several() && communicator.ring.intra != PathType::Nvl;
    if (over_pcie && cell_.protocol == Protocol::Simple)
      return base + overheads::kSimpleStepOverPcie * (steps.value() * 1e6 / pcie_step_us(cell_));
    auto const& block = figures::block(machine_.part_of(nodes_.front().front()));
    bool const has_flags = cell_.protocol != Protocol::Simple && communicator.ring.intra == PathType::Nvl;
    if (several() && has_flags) return base + steps + Seconds(cell_.link_latency_us * 1e-6) * (block.flagged_step - 1);
    if (several() || over_pcie) return base + steps + time_of_rounds();
    if (cell_.protocol != Protocol::Simple) return base + steps * block.flagged_step;
    return block.simple_start + block.simple_step * (steps.value() * 1e6 / nvlink_step_us(cell_));
  }

  [[nodiscard]] NvlsRounds nvls_rounds() const {
    return {cell_.algorithm, bytes(), channels_, per_node(), nodes_.size(), library_, environment_};
  }
  [[nodiscard]] Seconds time_of_rounds() const {
    if (cell_.algorithm != AlgorithmKind::Nvls && cell_.algorithm != AlgorithmKind::NvlsTree) return Seconds(0);
    for (auto const& domain : machine_.nvswitches)
      return nvls_rounds().time_of_chunks(figures::multimem(machine_.at(domain.link_part).link).chunk);
    return Seconds(0);
  }

  void explain(Communicator const& communicator, std::vector<Cell> const& all) {
    auto const& ring = communicator.ring;
    if (ring.is_fallback)
      remark(
          "no ring has the smallest rate that NCCL tries, by its own constants of links; it falls back to one channel "
          "in the order of ranks");
    else
      remark(fmt::format("the search finds {} channels of {:.3g} GB/s as NCCL counts, over {}{}{}; {} thread blocks",
                         ring.channels.size(), ring.rate, to_string(ring.intra),
                         several() ? fmt::format(" and to the NIC over {}", to_string(ring.inter)) : std::string(),
                         text_of(ring.rail_change), channels_));
    remark_sockets(ring);
    std::string costs;
    for (auto const& cell : all) {
      if (cell.rate <= 0) continue;
      costs += fmt::format("{}{} {} {:.0f} us", costs.empty() ? "" : ", ", to_string(cell.algorithm),
                           to_string(cell.protocol), time_us(cell, bytes(), communicator));
    }
    remark("NCCL's own estimates, by which it chooses: " + costs);
    if (several() && topology_.plugin_latency_us() > 0)
      remark(fmt::format("the NICs' plugin tells NCCL that a message between nodes takes {:.0f} us",
                         topology_.plugin_latency_us()));
    remark_transports();
  }

  static std::string_view text_of(RailChange rail_change) {
    switch (rail_change) {
      case RailChange::None: return "";
      case RailChange::Any: return "; a ring may leave a node by another NIC than it came in by";
      case RailChange::Alternating:
        return "; rings leave a node by another NIC than they came in by, every second one the way back (crossNic 2)";
    }
    return "";
  }

  // Where rings cross sockets and NCCL's constant keeps them narrow: what it would find if it counted the links there
  // are. Not where a socket has several NUMA nodes: NCCL counts the constant between any two of them.
  void remark_sockets(Graph const& ring) {
    if (ring.intra < PathType::Sys || machine_.numa_nodes.size() > machine_.sockets.size()) return;
    auto const* cpu = machine_.part_of(machine_.socket_of(nodes_.front().front()));
    auto const counted = counted_between_sockets(cpu, library_);
    double there = 0;
    for (auto const& link : machine_.socket_links) {
      auto const& part = machine_.at(link.part);
      auto const& first = machine_.socket_links.front();
      bool const joins_same_sockets = link.a == first.a && link.b == first.b;
      if (joins_same_sockets && part.link.rate) there += part.link.rate->value() * link.count * 1e-9;
    }
    if (there <= counted) return;
    Topology const as_built(machine_, nodes_.front(), library_, environment_, there);
    auto const wider = search_rings(as_built, several(), library_, environment_);
    auto const total = [](Graph const& graph) { return static_cast<double>(graph.channels.size()) * graph.rate; };
    if (total(wider) < 1.2 * total(ring)) return;
    remark(fmt::format(
        "NCCL counts {:.3g} GB/s between the sockets, which have {:.3g}; with these it would find {} channels "
        "of {:.3g} GB/s: give it rings by NCCL_GRAPH_FILE (export nccl-graph), or more channels by "
        "NCCL_MIN_NCHANNELS",
        counted, there, wider.channels.size(), wider.rate));
  }

  void remark_transports() {
    std::map<std::string, std::size_t> pairs;
    for (std::size_t a = 0; a < per_node(); ++a)
      for (std::size_t b = a + 1; b < per_node(); ++b)
        ++pairs[fmt::format("{} ({})", to_string(topology_.transport(a, b)), to_string(topology_.between(a, b).type))];
    std::string text;
    for (auto const& [transport, count] : pairs)
      text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, transport);
    if (!text.empty()) remark("pairs of GPUs of a node: " + text);
    if (several() && number_in(environment_, "NCCL_NET_DISABLE_INTRA").value_or(0) != 1) remark_pairs_by_nics();
  }

  void remark_pairs_by_nics() {
    std::size_t count = 0;
    for (std::size_t a = 0; a < per_node(); ++a)
      for (std::size_t b = a + 1; b < per_node(); ++b) count += topology_.is_faster_by_nics(a, b) ? 1 : 0;
    if (count > 0)
      remark(
          fmt::format("NCCL sends between {} pairs of GPUs of a node by their NICs, which are faster by its constants; "
                      "this plan does not, and is what NCCL does with NCCL_NET_DISABLE_INTRA=1",
                      count));
  }

  [[nodiscard]] double on_link() const { return bytes_on_link(cell_.protocol); }

  // Channels of the same order carry one flow.
  struct Order {
    Channel channel;
    Channel of_second_nodes;  // how it passes every second node: of alternating rings as its neighbour, else the same
    double share = 0;         // of the data
    int blocks = 0;
  };
  [[nodiscard]] std::vector<Order> orders_of(Graph const& graph) const {
    std::vector<Order> orders;
    auto const n = graph.channels.size();
    std::vector<int> used(n, 0);
    for (int i = 0; i < channels_; ++i) ++used[static_cast<std::size_t>(i) % n];
    // connect.cc, ncclTopoPostset: an odd number of channels stays as it is, with 2.20 also that of an odd number of
    // nodes. A GPU of an odd node then takes the NIC of its place in the channel before the exchange (search.cc,
    // ncclTopoGetNetDev), which differs where two GPUs share a NIC; here it takes that of the exchanged one.
    bool const alternates =
        graph.rail_change == RailChange::Alternating && n % 2 == 0 && (library_.minor > 20 || nodes_.size() % 2 == 0);
    for (std::size_t i = 0; i < n; ++i) {
      if (used[i] == 0) continue;
      auto const& of_second_nodes = graph.channels[alternates ? i ^ 1 : i];
      auto const found = std::find_if(orders.begin(), orders.end(), [&](Order const& order) {
        return order.channel == graph.channels[i] && order.of_second_nodes == of_second_nodes;
      });
      auto& order =
          found != orders.end() ? *found : orders.emplace_back(Order{graph.channels[i], of_second_nodes, 0, 0});
      order.blocks += used[i];
      order.share += static_cast<double>(used[i]) / channels_;
    }
    return orders;
  }

  void rings(Graph const& graph) {
    auto const n = static_cast<double>(collective_.among.size());
    auto const passes = passes_of(collective_.op, collective_.among.size());
    add_local_steps(n);
    std::size_t number = 0;
    for (auto const& order : orders_of(graph)) {
      steps_.name_next(fmt::format("ring{}", number++));
      transports_.take_blocks(order.blocks);
      auto const each = bytes() * passes * order.share * on_link();
      auto const channel_in = [&](std::size_t node) -> Channel const& {
        return node % 2 == 0 ? order.channel : order.of_second_nodes;
      };
      for (std::size_t h = 0; h < nodes_.size(); ++h) {
        auto const& gpus = channel_in(h).gpus;
        for (std::size_t i = 0; i + 1 < gpus.size(); ++i)
          if (passes_hop(collective_, machine_, nodes_[h][gpus[i]], nodes_[h][gpus[i + 1]]))
            transports_.hop(h, gpus[i], gpus[i + 1], each);
        auto const next = (h + 1) % nodes_.size();
        auto const& there = channel_in(next);
        if (!passes_hop(collective_, machine_, nodes_[h][gpus.back()], nodes_[next][there.gpus.front()])) continue;
        if (several())
          transports_.over_network(h, gpus.back(), next, there.gpus.front(), channel_in(h).nic_out, there.nic, each);
        else if (gpus.size() > 1)
          transports_.hop(h, gpus.back(), gpus.front(), each);
      }
    }
  }

  // In one of a block's steps it sends nothing: it takes the last part of the data, or adds it, within its GPU. Of
  // large collectives the rounds after the first hide it: 512 MiB among 4 A100 reach 217 GB/s, 8 GiB 235.
  void add_local_steps(double ranks) {
    constexpr double kHiddenBeyond = 512.0 * (1 << 20);
    auto const bytes = std::min(this->bytes(), kHiddenBeyond) / ranks;
    if (has_root(collective_.op)) return;
    auto const& block = figures::block(machine_.part_of(nodes_.front().front()));
    steps_.add_latency(Bytes(static_cast<std::int64_t>(bytes * on_link())) / (block.local * channels_));
  }

  // Two trees over the nodes, each with half of the channels; within a node a chain.
  void trees(Graph const& graph) {
    add_local_steps(2);  // of each tree the last half of its data: 2 x H100 reach 309 GB/s of 256 MiB, of 370
    std::size_t number = 0;
    for (auto const& order : orders_of(graph)) {
      auto const each = bytes() * order.share * on_link() / 2;
      transports_.take_blocks(std::max(1, order.blocks / 2));
      for (int tree = 0; tree < 2; ++tree) {
        steps_.name_next(fmt::format("tree{}.{}", number, tree));
        auto const& gpus = order.channel.gpus;
        for (std::size_t h = 0; h < nodes_.size(); ++h) {
          for (std::size_t i = 0; i + 1 < gpus.size(); ++i) {
            transports_.hop(h, gpus[i + 1], gpus[i], each);
            transports_.hop(h, gpus[i], gpus[i + 1], each);
          }
          auto const parent = tree_parent(h, nodes_.size(), tree);
          if (!parent) continue;
          transports_.over_network(h, gpus.front(), *parent, gpus.front(), order.channel.nic, each);
          transports_.over_network(*parent, gpus.front(), h, gpus.front(), order.channel.nic, each);
        }
      }
      ++number;
    }
  }

  // The switch adds what all GPUs hold and multiplies the sum: of an all-reduce each GPU's link carries S (1 + 1/g)
  // each way, of an all-gather or a reduce-scatter S one way.
  void nvls_of_node(double size, bool is_all_reduce) {
    auto const g = static_cast<double>(per_node());
    auto const rounds = nvls_rounds();
    auto const each_gpu = is_all_reduce ? size * (1 + 1 / rounds.heads()) : size;
    steps_.name_next("nvls");
    transports_.take_blocks(0);
    auto const waiting = 1 - overheads::kMultimemLossPerDoubling * std::max(0.0, std::log2(g / 8));
    for (auto const& node : nodes_)
      for (auto const a : node)
        for (auto const b : node)
          if (a != b) transports_.by_switch(a, b, each_gpu * rounds.filled() / waiting / (g - 1));
  }

  // With CollNet the network adds what each head has of its node.
  void nvls(Graph const& heads) {
    nvls_of_node(bytes(), collective_.op == CollectiveOp::AllReduce);
    if (several()) add_in_network(heads.channels, bytes() / static_cast<double>(heads.channels.size()));
  }

  // Every GPU gives each head the head's part and gets the sum of it back, or one of the two.
  void collnet_direct(CollNet const& collnet) {
    auto heads = collnet.direct.channels;
    heads.resize(head_count(collnet));  // the same ones again follow
    auto const part = bytes() / static_cast<double>(heads.size());
    auto const each = part / send_efficiency(per_node());
    steps_.name_next("collnet");
    transports_.take_blocks(channels_);
    for (std::size_t h = 0; h < nodes_.size(); ++h)
      for (auto const& head : heads)
        for (std::size_t gpu = 0; gpu < per_node(); ++gpu) {
          if (gpu == head.gpus.front()) continue;
          if (collective_.op != CollectiveOp::AllGather) transports_.hop(h, gpu, head.gpus.front(), each);
          if (collective_.op != CollectiveOp::ReduceScatter) transports_.hop(h, head.gpus.front(), gpu, each);
        }
    add_in_network(heads, part);
  }

  void collnet_chains(Graph const& graph) {
    std::size_t number = 0;
    for (auto const& order : orders_of(graph)) {
      steps_.name_next(fmt::format("collnet-chain{}", number++));
      transports_.take_blocks(order.blocks);
      auto const& gpus = order.channel.gpus;
      auto const each = bytes() * order.share;
      for (std::size_t h = 0; h < nodes_.size(); ++h)
        for (std::size_t i = 0; i + 1 < gpus.size(); ++i) {
          transports_.hop(h, gpus[i + 1], gpus[i], each);
          transports_.hop(h, gpus[i], gpus[i + 1], each);
        }
      add_in_network({order.channel}, each);
    }
  }

  // The switches add what the heads of all nodes send, and send each the sum: every NIC sends and receives each byte
  // once, and so does every cable on the way, as if each node sent to the next. Of an all-gather a head gets the parts
  // of the other nodes.
  void add_in_network(std::vector<Channel> const& heads, double each) {
    auto const n = static_cast<double>(nodes_.size());
    auto const passing = collective_.op == CollectiveOp::AllGather ? each * (n - 1) / n : each;
    for (std::size_t h = 0; h < nodes_.size(); ++h)
      for (auto const& head : heads)
        transports_.through_adding_switches(h, head.gpus.front(), (h + 1) % nodes_.size(), head.nic, passing);
  }

  void nvls_tree(Graph const& heads) {
    steps_.add_latency(nvls_rounds().time_to_fill_tree(BytesPerSecond(topology_.max_rate(true) * 1e9)));
    nvls_of_node(bytes(), true);
    auto const each = bytes() / static_cast<double>(heads.channels.size()) / 2;
    for (int tree = 0; tree < 2; ++tree) {
      steps_.name_next(fmt::format("nvls-tree{}", tree));
      for (std::size_t h = 0; h < nodes_.size(); ++h) {
        auto const parent = tree_parent(h, nodes_.size(), tree);
        if (!parent) continue;
        for (auto const& head : heads.channels) {
          transports_.over_network(h, head.gpus.front(), *parent, head.gpus.front(), head.nic, each);
          transports_.over_network(*parent, head.gpus.front(), h, head.gpus.front(), head.nic, each);
        }
      }
    }
  }

  // PAT, of one GPU a node: at each distance, a power of two, a rank passes on the blocks that it has by then.
  void binomial_trees(Graph const& graph) {
    auto const n = nodes_.size();
    for (auto const& order : orders_of(graph)) {
      auto const block = bytes() / static_cast<double>(n) * order.share;
      transports_.take_blocks(order.blocks);
      for (std::size_t distance = 1; distance < n; distance *= 2) {
        steps_.name_next(fmt::format("pat{}", distance));
        auto const blocks = (n - distance + 2 * distance - 1) / (2 * distance);
        for (std::size_t h = 0; h < n; ++h)
          transports_.over_network(h, 0, (h + distance) % n, 0, order.channel.nic, block * static_cast<double>(blocks));
      }
    }
  }

  // Sends and receives of every pair, or of every GPU and the root, all at once (NCCL's grouped send and receive).
  void exchange() {
    auto& choice = steps_.choice();
    choice.algorithm = "SendRecv";
    auto const each = bytes() / static_cast<double>(collective_.among.size());
    // enqueue.cc: a channel has an eighth of a step at least; LL while one channel has 16 KiB at most, within a node.
    bool const by_nvlink = !several() && topology_.farthest_gpus() <= PathType::Nvb;
    auto const least = step_of_exchange() / 8;
    auto const of_peer =
        static_cast<int>(std::clamp(std::ceil(each / least), 1.0, static_cast<double>(channels_of_peer())));
    bool const ll = !several() && each <= of_peer * 16384.0;
    take({AlgorithmKind::Ring, ll ? Protocol::LL : Protocol::Simple, ll ? 6.6 + .6 : 8.4 + 3.4, 0});
    choice.protocol = to_string(cell_.protocol);
    choice.channels = of_peer;
    remark(fmt::format("{} channels for each peer", of_peer));
    remark_transports();
    auto const& block = figures::block(machine_.part_of(nodes_.front().front()));
    steps_.begin(nodes_, Seconds(cell_.latency_us * 1e-6));
    // Its own part is copied by a peer's channels; what goes over a network takes longer than that, and where there is
    // one direction, as with a gather (2 x H200), other warps copy it meanwhile.
    if (!several() && collective_.op == CollectiveOp::AllToAll)
      steps_.add_latency(Bytes(static_cast<std::int64_t>(each * on_link())) / (block.local * of_peer));
    if (by_nvlink) steps_.add_latency(last_slices(each / of_peer, of_peer));
    steps_.name_next("sendrecv");
    for (std::size_t h = 0; h < nodes_.size(); ++h)
      for (std::size_t a = 0; a < per_node(); ++a)
        for (std::size_t k = 0; k < nodes_.size(); ++k)
          for (std::size_t b = 0; b < per_node(); ++b) {
            if (!is_exchanged(collective_, machine_, nodes_[h][a], nodes_[k][b])) continue;
            if (h != k)
              send_over_network(h, a, k, b, each, of_peer);
            else if (a != b)
              send_within_node(h, a, b, each, of_peer);
          }
  }
  // A receive from host memory is alone in its warps, unlike a ring's step: among 2 x H100 23.8 GB/s by 2 channels.
  void send_within_node(std::size_t node, std::size_t from, std::size_t to, double bytes, int channels) {
    transports_.take_blocks(topology_.transport(from, to) == Transport::SharedMemory ? 2 * channels : channels);
    transports_.hop(node, from, to, bytes * on_link() / send_efficiency(collective_.among.size()));
  }
  // Bytes of a step of sends and receives (init.cc: computeBuffSizes).
  [[nodiscard]] double step_of_exchange() const {
    if (several()) return number_in(environment_, "NCCL_P2P_NET_CHUNKSIZE").value_or(131072);
    if (topology_.farthest_gpus() <= PathType::Nvb)
      return number_in(environment_, "NCCL_P2P_NVL_CHUNKSIZE").value_or(524288);
    return number_in(environment_, "NCCL_P2P_PCI_CHUNKSIZE").value_or(131072);
  }
  // A receiver takes its own NIC. A sender takes the same one of its node, through the GPU that owns it (PXN), so that
  // nothing crosses rails; its own where there is no such way, unless rails are not to be crossed (net.cc: sendSetup).
  void send_over_network(std::size_t node, std::size_t from, std::size_t to_node, std::size_t to, double bytes,
                         int channels) {
    std::map<std::pair<std::size_t, std::size_t>, int> channels_of;  // by NICs of sender and receiver
    bool const by_rails = number_in(environment_, "NCCL_PXN_DISABLE").value_or(0) != 1 &&
                          number_in(environment_, "NCCL_P2P_PXN_LEVEL").value_or(2) != 0;
    bool const keeps_to_rails = number_in(environment_, "NCCL_CROSS_NIC").value_or(2) == 0;
    for (int channel = 0; channel < channels; ++channel) {
      auto const number = static_cast<std::size_t>(channel);
      auto const of_receiver = topology_.own_nic(to, number);
      bool const is_near = keeps_to_rails || (by_rails && topology_.to_nic(from, of_receiver).type <= PathType::Pxn);
      ++channels_of[{is_near ? of_receiver : topology_.own_nic(from, number), of_receiver}];
    }
    for (auto const& [nics, count] : channels_of) {
      transports_.take_blocks(count);
      transports_.over_network(node, from, to_node, to, nics.first, nics.second, bytes * count / channels);
    }
  }
  // A block copies what a peer has sent into the buffer once a slice of it is whole: the last slices of its peers wait
  // for nothing else. All channels together serve all peers.
  [[nodiscard]] Seconds last_slices(double of_channel, int of_peer) const {
    constexpr double kSlice = 131072;  // a quarter of a step over NVLink
    constexpr double kChannels = 32;   // init.cc: of eight GPUs with NVLink
    auto const peers_of_block = std::max(1.0, static_cast<double>(per_node() - 1) * of_peer / kChannels);
    auto const& block = figures::block(machine_.part_of(nodes_.front().front()));
    return Bytes(static_cast<std::int64_t>(peers_of_block * std::min(of_channel, kSlice))) / block.local;
  }

  [[nodiscard]] int channels_of_peer() const {
    auto const type = topology_.farthest_gpus();
    int count = several() ? number_in(environment_, "NCCL_NCHANNELS_PER_NET_PEER").value_or(2) : 2;
    if (!several() && type <= PathType::Nvb && topology_.nvlink_rate() > 0) {
      auto const one = topology_.min_capability() >= 100 ? 40.1 : topology_.min_capability() >= 90 ? 20.6 : 20.0;
      count = std::max(2, static_cast<int>(2 * topology_.nvlink_rate() / one));
    }
    int power = 1;
    while (2 * power <= count) power *= 2;
    if (power < count) power *= 2;
    if (auto const most = number_in(environment_, "NCCL_MAX_P2P_NCHANNELS"))
      power = std::min(power, std::max(1, *most));
    return std::min(power, 32);
  }

  Machine const& machine_;
  Collective const& collective_;
  Library const& library_;
  Environment environment_;
  std::vector<std::vector<PciId>> nodes_;
  Topology topology_;  // of the first node; the others are taken to be like it
  LibrarySteps steps_;
  Transports transports_;
  Cell cell_;
  int channels_ = 0;
};

}  // namespace

Plan plan_of(Model const& model, Collective const& collective, Library const& library) {
  return NcclPlan(model, collective, library).make();
}

}  // namespace lanewise::nccl
