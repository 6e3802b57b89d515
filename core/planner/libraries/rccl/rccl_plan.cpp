#include "core/planner/libraries/rccl/rccl_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

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

// RCCL's own latencies of MI300X. Source: ROCm/rocm-systems, projects/rccl/src/graph/tuning.cc, model 5: base 12 us
// with flags and 17 without; a step of a ring over xGMI 0.8 and 2.1 us, of a tree over a network 10.5 and 25 us.
struct Latencies {
  Seconds base, link_step, network_step;
};
constexpr Latencies kByFlags{12.0_us, 0.8_us, 10.5_us};
constexpr Latencies kSimple{17.0_us, 2.1_us, 25.0_us};

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
    bool const by_pairs = nodes_.size() == 1 && bytes() <= kMaxByPairs && collective_.op != CollectiveOp::Broadcast;
    bool const by_flags = bytes() <= kMaxByFlags && collective_.op != CollectiveOp::AllToAll;
    on_link_ = by_flags ? 2 : 1;
    auto& choice = steps_.choice();
    choice.algorithm = collective_.op == CollectiveOp::AllToAll ? "SendRecv" : by_pairs ? "Direct" : "Ring";
    choice.protocol = by_flags ? "LL" : "Simple";
    choice.channels = std::max(1, kChannelsOfALink * (static_cast<int>(per_node()) - 1));
    steps_.begin(nodes_, latency(by_flags ? kByFlags : kSimple, by_pairs));
    explain(by_pairs);
    if (collective_.op == CollectiveOp::AllToAll)
      exchange();
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

  [[nodiscard]] bool are_joined(PciId a, PciId b) const {
    return std::any_of(machine_.nvlinks.begin(), machine_.nvlinks.end(), [&](NvlinkBundle const& bundle) {
      bool const joins = (bundle.a == NvlinkEnd(a) && bundle.b == NvlinkEnd(b)) ||
                         (bundle.a == NvlinkEnd(b) && bundle.b == NvlinkEnd(a));
      return joins && machine_.at(bundle.part).link.family == LinkFamily::GpuXgmi;
    });
  }

  // By all pairs a reduction and a distribution are one step each; a ring has one for each rank, over networks too.
  [[nodiscard]] Seconds latency(Latencies const& of, bool by_pairs) const {
    if (collective_.op == CollectiveOp::AllToAll)
      return of.base + of.link_step + (nodes_.size() > 1 ? of.network_step : Seconds(0));
    auto const phases = collective_.op == CollectiveOp::AllReduce ? 2.0 : 1.0;
    auto const hops = static_cast<double>(nodes_.size() * (per_node() - 1));
    auto const over_network = static_cast<double>(nodes_.size() - 1);
    return of.base + of.link_step * (phases * (by_pairs ? 1 : hops)) + of.network_step * (phases * over_network);
  }

  void explain(bool by_pairs) {
    if (collective_.op == CollectiveOp::AllToAll) return;
    steps_.remark(by_pairs
                      ? "few bytes: every two GPUs exchange their parts at once, over the xGMI link between them"
                      : fmt::format("rings use each of the {} xGMI links of a GPU equally, both ways", per_node() - 1));
    if (nodes_.size() > 1) steps_.remark("every ring leaves a node by the NIC of its last GPU there");
  }

  // Within one node every link carries the same. Between nodes ring i goes from GPU i through all others along a path
  // that shares no link with the other rings' paths, and through every second node the other way round, so that it
  // leaves and enters by the same rail.
  void rings() {
    auto const ranks = collective_.among.size();
    auto const all = bytes() * passes_of(collective_.op, ranks) * on_link_;
    steps_.name_next("ring");
    if (nodes_.size() == 1) {
      auto const each = all / static_cast<double>(per_node() - 1);
      auto const& gpus = nodes_.front();
      for (auto const a : gpus)
        for (auto const b : gpus) {
          bool const back_to_root = collective_.op == CollectiveOp::Broadcast && b == gpus.front();
          if (a != b && !back_to_root) steps_.add(steps_.between_gpus(a, b, each, Op::Write));
        }
      return;
    }
    auto const paths = disjoint_paths(per_node());
    auto const each = all / static_cast<double>(paths.size());
    for (std::size_t ring = 0; ring < paths.size(); ++ring) {
      steps_.name_next(fmt::format("ring{}", ring));
      for (std::size_t h = 0; h < nodes_.size(); ++h) {
        auto path = paths[ring];
        if (h % 2 == 1) std::reverse(path.begin(), path.end());
        for (std::size_t i = 0; i + 1 < path.size(); ++i)
          steps_.add(steps_.between_gpus(nodes_[h][path[i]], nodes_[h][path[i + 1]], each, Op::Write));
        auto const next = (h + 1) % nodes_.size();
        if (next == 0 && collective_.op == CollectiveOp::Broadcast) continue;  // the root has it
        auto const entered = next % 2 == 1 ? paths[ring].back() : paths[ring].front();
        steps_.add(LibrarySteps::request_of(nodes_[h][path.back()], nodes_[next][entered], each, Op::Copy));
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
