#include "core/planner/libraries/rccl/rccl_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/machine/nvlink_bundles.hpp"
#include "core/planner/collectives/algorithms/double_tree.hpp"
#include "core/planner/libraries/rccl/tuning.hpp"
#include "core/planner/libraries/steps/library_steps.hpp"
#include "core/planner/libraries/steps/link_shares.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/libraries/library_name.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise::rccl {
namespace {

using namespace literals;

// Up to here all pairs exchange at once, in one step each way, and with flags in every word (LL). Source: ROCm/rccl
// tools/msccl-algorithms, eight MI300X: all pairs, LL below 512 KiB, Simple to 16 MiB.
constexpr double kMaxByPairs = 16.0 * (1 << 20);
constexpr double kMaxByFlags = 512.0 * (1 << 10);

// How fast a GPU adds what the others have sent, before it sends the sums: nothing hides that by all pairs. Fitted to
// all-reduces of 8 and 16 MiB: eight MI300X 88.1 and 152.7 us (ROCm/rccl issue 1562), eight MI355X 71.1 and 116.7 us
// (prasad-nair-amd/alibaba, README.md, commit 5410faae), of which the links explain 5.7 and 4.5 us a MiB.
constexpr BytesPerSecond kSumOfGfx942 = 440.0_GBps;
constexpr BytesPerSecond kSumOfGfx950 = 880.0_GBps;

// Thread blocks of a call over all seven links (RCCL: 112 channels of 8 x MI300X); over fewer links as many of each.
constexpr int kChannelsOfALink = 16;

class RcclPlan {
 public:
  RcclPlan(Model const& model, Collective const& collective)
      : machine_(model.machine()),
        collective_(collective),
        nodes_(gpus_by_node(machine_, collective, "RCCL")),
        steps_(model, collective, to_string(Library{.kind = LibraryKind::Rccl}), "RCCL") {
    refuse_other_nodes();
  }

  Plan make() {
    bool const exchanges = is_exchange(collective_.op);
    bool const by_pairs = !exchanges && !has_root(collective_.op) && nodes_.size() == 1 && bytes() <= kMaxByPairs;
    bool const by_flags = bytes() < kMaxByFlags && !exchanges;
    Choice chosen{AlgorithmKind::Ring, by_flags ? Protocol::LL : Protocol::Simple};
    if (nodes_.size() > 1 && !exchanges)
      chosen = choose(collective_.op, bytes(), {nodes_.size(), per_node(), chip(), has_amd_cpu()});
    on_link_ = bytes_on_link(chosen.protocol);
    auto& choice = steps_.choice();
    choice.algorithm = exchanges ? "SendRecv" : by_pairs ? "Direct" : to_string(chosen.algorithm);
    choice.protocol = to_string(chosen.protocol);
    choice.channels = std::max(1, kChannelsOfALink * (static_cast<int>(per_node()) - 1));
    steps_.begin(nodes_, latency(chosen, by_pairs));
    if (by_pairs) add_sums();
    explain(chosen.algorithm, by_pairs);
    if (exchanges)
      exchange();
    else if (nodes_.size() > 1)
      rings_over_nodes(chosen.algorithm);
    else
      rings();
    return steps_.finish();
  }

 private:
  [[nodiscard]] std::size_t per_node() const { return nodes_.front().size(); }
  [[nodiscard]] double bytes() const { return static_cast<double>(collective_.bytes.value()); }

  void refuse_other_nodes() const {
    for (auto const& node : nodes_)
      for (auto const a : node)
        for (auto const b : node) {
          if (a != b && !are_joined(a, b))
            throw PlanError(
                fmt::format("RCCL is planned where xGMI joins every two GPUs of a node; no xGMI joins '{}' and '{}'",
                            machine_.name_of(a), machine_.name_of(b)));
        }
    refuse_unknown_op(collective_.op, "RCCL");
  }

  [[nodiscard]] bool are_joined(PciId a, PciId b) const { return are_joined_by(machine_, a, b, LinkFamily::GpuXgmi); }

  [[nodiscard]] Chip chip() const {
    auto const* part = machine_.part_of(nodes_.front().front());
    return part != nullptr && part->gpu.chip == "gfx950" ? Chip::Gfx950 : Chip::Gfx942;
  }
  [[nodiscard]] bool has_amd_cpu() const {
    auto const* part = machine_.part_of(machine_.socket_of(nodes_.front().front()));
    return part != nullptr && part->cpu.vendor == "amd";
  }

  // By all pairs a reduction and a distribution are one step each; a ring has one for each rank, over networks too, a
  // tree those of a node and of its levels.
  [[nodiscard]] Seconds latency(Choice const& chosen, bool by_pairs) const {
    auto const of = latencies(chosen.algorithm, chosen.protocol);
    if (is_exchange(collective_.op)) return of.base + of.link_step + (nodes_.size() > 1 ? of.network_step : Seconds(0));
    auto const phases = collective_.op == CollectiveOp::AllReduce ? 2.0 : 1.0;
    auto const of_node = static_cast<double>(per_node() - 1);
    auto const nodes = static_cast<double>(nodes_.size());
    bool const is_tree = chosen.algorithm == AlgorithmKind::Tree;
    auto const hops = by_pairs ? 1 : is_tree ? of_node : nodes * of_node;
    auto const over_network = is_tree ? std::ceil(std::log2(nodes)) : nodes - 1;
    return of.base + of.link_step * (phases * hops) + of.network_step * (phases * over_network);
  }

  void add_sums() {
    if (collective_.op == CollectiveOp::AllGather) return;
    steps_.add_latency(collective_.bytes / (chip() == Chip::Gfx950 ? kSumOfGfx950 : kSumOfGfx942));
  }

  void explain(AlgorithmKind algorithm, bool by_pairs) {
    if (is_exchange(collective_.op)) return;
    bool const is_tree = algorithm == AlgorithmKind::Tree;
    if (by_pairs)
      steps_.remark("few bytes: every two GPUs exchange their parts at once, over the xGMI link between them");
    else if (per_node() > 1)
      steps_.remark(fmt::format("{} use each of the {} xGMI links of a GPU equally, both ways",
                                is_tree ? "chains of trees" : "rings", per_node() - 1));
    if (nodes_.size() > 1)
      steps_.remark(is_tree ? "every tree leaves a node by the NIC of the first GPU of its chain there"
                            : "every ring leaves a node by the NIC of its last GPU there");
  }

  // Within one node every link carries the same.
  void rings() {
    auto const all = bytes() * passes_of(collective_.op, collective_.among.size()) * on_link_;
    steps_.name_next("ring");
    auto const each = all / static_cast<double>(per_node() - 1);
    auto const& gpus = nodes_.front();
    for (auto const a : gpus)
      for (auto const b : gpus) {
        if (a != b && passes_hop(collective_, machine_, a, b)) steps_.add(steps_.between_gpus(a, b, each, Op::Write));
      }
  }

  // Ring or tree i starts at GPU i and takes a path through all others that shares no link with those of the others.
  void rings_over_nodes(AlgorithmKind algorithm) {
    auto const paths = disjoint_paths(per_node());
    auto const passes = algorithm == AlgorithmKind::Tree ? 1 : passes_of(collective_.op, collective_.among.size());
    auto const each = bytes() * passes * on_link_ / static_cast<double>(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      steps_.name_next(fmt::format("{}{}", algorithm == AlgorithmKind::Tree ? "tree" : "ring", i));
      if (algorithm == AlgorithmKind::Tree)
        trees(paths[i], each);
      else
        ring(paths[i], each);
    }
  }

  // Through every second node the other way round, so that it leaves and enters by the same rail.
  void ring(std::vector<std::size_t> const& path, double each) {
    for (std::size_t h = 0; h < nodes_.size(); ++h) {
      auto const of_node = h % 2 == 1 ? std::vector(path.rbegin(), path.rend()) : path;
      for (std::size_t i = 0; i + 1 < of_node.size(); ++i) {
        auto const a = nodes_[h][of_node[i]];
        auto const b = nodes_[h][of_node[i + 1]];
        if (passes_hop(collective_, machine_, a, b)) steps_.add(steps_.between_gpus(a, b, each, Op::Write));
      }
      auto const next = (h + 1) % nodes_.size();
      auto const last = nodes_[h][of_node.back()];
      auto const entered = nodes_[next][next % 2 == 1 ? path.back() : path.front()];
      if (passes_hop(collective_, machine_, last, entered))
        steps_.add(LibrarySteps::request_of(last, entered, each, Op::Copy));
    }
  }

  // Two trees over the nodes, each with half of the data: up the chain of a node and up the tree, and down again.
  void trees(std::vector<std::size_t> const& path, double each) {
    for (std::size_t h = 0; h < nodes_.size(); ++h) {
      for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        steps_.add(steps_.between_gpus(nodes_[h][path[i + 1]], nodes_[h][path[i]], each, Op::Write));
        steps_.add(steps_.between_gpus(nodes_[h][path[i]], nodes_[h][path[i + 1]], each, Op::Write));
      }
      for (int tree = 0; tree < 2; ++tree) {
        auto const parent = tree_parent(h, nodes_.size(), tree);
        if (!parent) continue;
        auto const here = nodes_[h][path.front()];
        auto const there = nodes_[*parent][path.front()];
        steps_.add(LibrarySteps::request_of(here, there, each / 2, Op::Copy));
        steps_.add(LibrarySteps::request_of(there, here, each / 2, Op::Copy));
      }
    }
  }

  void exchange() {
    auto const each = bytes() / static_cast<double>(collective_.among.size());
    steps_.name_next("sendrecv");
    for (std::size_t h = 0; h < nodes_.size(); ++h)
      for (std::size_t k = 0; k < nodes_.size(); ++k)
        for (auto const a : nodes_[h])
          for (auto const b : nodes_[k]) {
            if (!is_exchanged(collective_, machine_, a, b)) continue;
            if (h == k && a != b)
              steps_.add(steps_.between_gpus(a, b, each / send_efficiency(collective_.among.size()), Op::Write));
            if (h != k) steps_.add(LibrarySteps::request_of(a, b, each, Op::Copy));
          }
  }

  Machine const& machine_;
  Collective const& collective_;
  std::vector<std::vector<PciId>> nodes_;
  LibrarySteps steps_;
  double on_link_ = 1;  // what a byte of data is there
};

}  // namespace

Plan plan_of(Model const& model, Collective const& collective) { return RcclPlan(model, collective).make(); }

}  // namespace lanewise::rccl
