#include "core/planner/libraries/plans/mpi_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/planner/libraries/steps/library_steps.hpp"
#include "core/planner/libraries/steps/link_shares.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/libraries/library_name.hpp"

namespace lanewise::mpi {
namespace {

using namespace literals;

// Source: open-mpi/ompi, ompi/mca/coll/accelerator: reductions always go through host memory; all_gather and all_to_all
// up to 64 KiB, broadcasts up to 256 B, gathers and scatters never.
constexpr double kMaxStaged = 64.0 * (1 << 10);
constexpr double kMaxStagedBroadcast = 256;
// ompi/mca/coll/tuned: below this an all-reduce halves nothing (recursive doubling: all data in each of log2 n rounds).
constexpr double kLeastHalved = 8.0 * (1 << 10);
// Source: openucx/ucx, src/uct/cuda: a copy to or from host memory that the CPU waits for 8 us, a message between GPUs
// 1.8 us, and the host 4 us for each, one after another.
constexpr Seconds kCopyCall = 8.0_us;
constexpr Seconds kMessage = 1.8_us;
constexpr Seconds kHostOfAMessage = 4.0_us;
// A message between two processes of a node, over shared memory. Source: openucx/ucx, its latency of shared memory and
// half a microsecond of matching on each side.
constexpr Seconds kHostMessage = 1.1_us;

class MpiPlan {
 public:
  MpiPlan(Model const& model, Collective const& collective)
      : machine_(model.machine()),
        collective_(collective),
        nodes_(gpus_by_node(machine_, collective, "MPI with GPU buffers")),
        steps_(model, collective, to_string(Library{.kind = LibraryKind::Mpi}), "MPI") {
    refuse_unknown_op(collective_.op, "MPI");
  }

  Plan make() {
    bool const staged = reduces() || bytes() <= max_staged();
    auto& choice = steps_.choice();
    choice.protocol = staged ? "staged" : "device";
    if (staged)
      through_host_memory();
    else
      between_devices();
    return steps_.finish(LibrarySteps::FirstAccess::InStep);
  }

 private:
  [[nodiscard]] bool reduces() const {
    return collective_.op == CollectiveOp::AllReduce || collective_.op == CollectiveOp::ReduceScatter ||
           collective_.op == CollectiveOp::Reduce;
  }
  [[nodiscard]] double max_staged() const {
    if (collective_.op == CollectiveOp::Gather || collective_.op == CollectiveOp::Scatter) return 0;
    return collective_.op == CollectiveOp::Broadcast ? kMaxStagedBroadcast : kMaxStaged;
  }
  [[nodiscard]] std::size_t per_node() const { return nodes_.front().size(); }
  [[nodiscard]] double ranks() const { return static_cast<double>(collective_.among.size()); }
  [[nodiscard]] double rounds() const { return static_cast<double>(std::bit_width(collective_.among.size() - 1)); }
  [[nodiscard]] double bytes() const { return static_cast<double>(collective_.bytes.value()); }

  // The rank's part where the op gives each a part of its own: all that it has before, or after.
  [[nodiscard]] double before() const {
    return collective_.op == CollectiveOp::AllGather ? bytes() / ranks() : bytes();
  }
  [[nodiscard]] double after() const {
    return collective_.op == CollectiveOp::ReduceScatter ? bytes() / ranks() : bytes();
  }

  // Each rank copies its buffer to pageable host memory, the ranks exchange there, and each copies the result back. A
  // rank sends what leaves its node to the rank of the same number on the next one, and the rest to its neighbour.
  void through_host_memory() {
    bool const halves = bytes() >= kLeastHalved || collective_.op != CollectiveOp::AllReduce;
    steps_.choice().algorithm =
        collective_.op == CollectiveOp::AllReduce ? (halves ? "Rabenseifner" : "recursive doubling") : "linear";
    steps_.remark("the GPUs' buffers are copied to pageable host memory as a whole, and back: nothing overlaps");
    auto const phases = halves && collective_.op == CollectiveOp::AllReduce ? 2.0 : 1.0;
    steps_.begin(nodes_, kCopyCall * 2 + kHostMessage * (phases * rounds()));
    auto const nodes = static_cast<double>(nodes_.size());
    auto const all = halves ? bytes() * passes_of(collective_.op, collective_.among.size()) : bytes() * rounds();
    auto const leaving = nodes > 1 ? all * (1 - 1 / nodes) / (1 - 1 / ranks()) : 0;
    steps_.name_next("to host");
    std::vector<std::vector<StepId>> copied(nodes_.size());
    for (std::size_t h = 0; h < nodes_.size(); ++h)
      for (auto const gpu : nodes_[h]) copied[h].push_back(*copy(gpu, memory_of(gpu), before(), {}));
    steps_.name_next("on the host");
    std::vector<StepId> exchanged;
    for (std::size_t h = 0; h < nodes_.size(); ++h)
      for (std::size_t i = 0; i < per_node(); ++i) {
        auto const k = (h + 1) % nodes_.size();
        auto const j = (i + 1) % per_node();
        auto const note = [&](std::optional<StepId> step) {
          if (step) exchanged.push_back(*step);
        };
        auto const from = memory_of(nodes_[h][i]);
        if (leaving > 0)
          note(steps_.add(LibrarySteps::request_of(from, memory_of(nodes_[k][i]), leaving, Op::Copy),
                          {copied[h][i], copied[k][i]}));
        note(steps_.add(LibrarySteps::request_of(from, memory_of(nodes_[h][j]), std::max(all - leaving, 0.0), Op::Copy),
                        {std::min(copied[h][i], copied[h][j]), std::max(copied[h][i], copied[h][j])}));
      }
    steps_.name_next("from host");
    for (auto const& node : nodes_)
      for (auto const gpu : node)
        if (collective_.op != CollectiveOp::Reduce || Place(gpu) == collective_.among[collective_.root])
          copy(memory_of(gpu), gpu, after(), exchanged);
  }

  // By copies from GPU to GPU where they have peer access, else through host memory as the driver does it; over the
  // network by GPUDirect RDMA where that is legal.
  void between_devices() {
    bool const is_broadcast = collective_.op == CollectiveOp::Broadcast;
    steps_.choice().algorithm = is_broadcast ? "chain" : "linear";
    steps_.remark("messages go from GPU to GPU: by copies where they have peer access, else through host memory");
    steps_.begin(nodes_, kMessage + kHostOfAMessage * (is_broadcast ? 1.0 : ranks() - 1));
    steps_.name_next("message");
    auto all = collective_.among;
    if (is_broadcast) std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(collective_.root), all.end());
    for (std::size_t a = 0; a < all.size(); ++a)
      for (std::size_t b = 0; b < all.size(); ++b) {
        auto const from = *gpu_at(machine_, all[a]);
        auto const to = *gpu_at(machine_, all[b]);
        bool const sends = is_broadcast ? b == a + 1 : a != b && is_exchanged(collective_, machine_, from, to);
        if (sends) message(from, to, is_broadcast ? bytes() : bytes() / ranks());
      }
  }

  void message(PciId from, PciId to, double bytes) {
    auto request = LibrarySteps::request_of(from, to, bytes, Op::Copy);
    if (machine_.host_of(from) == machine_.host_of(to)) {
      request.only = has_nvlink(machine_, from, to) ? Mechanism::Nvlink : Mechanism::PcieP2p;
      if (!steps_.is_possible(request)) request.only = Mechanism::HostStaged;
    }
    steps_.add(request);
  }

  [[nodiscard]] NumaId memory_of(PciId gpu) const { return machine_.numa_of(gpu); }
  std::optional<StepId> copy(Place const& from, Place const& to, double bytes, std::vector<StepId> after) {
    return steps_.add(
        LibrarySteps::request_of(from, to, std::max(bytes, 1.0), Op::Copy), [](Way& way) { way.pageable = true; },
        std::move(after));
  }

  Machine const& machine_;
  Collective const& collective_;
  std::vector<std::vector<PciId>> nodes_;
  LibrarySteps steps_;
};

}  // namespace

Plan plan_of(Model const& model, Collective const& collective) { return MpiPlan(model, collective).make(); }

}  // namespace lanewise::mpi
