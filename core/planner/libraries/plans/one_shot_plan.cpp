#include "core/planner/libraries/plans/one_shot_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/resources/figures.hpp"
#include "core/planner/libraries/nccl/nccl_plan.hpp"
#include "core/planner/libraries/plans/token_exchange_plan.hpp"
#include "core/planner/libraries/steps/library_steps.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/libraries/library_name.hpp"

namespace lanewise::engine {
namespace {

// Source: vllm-project/vllm, csrc/custom_all_reduce.cuh and vllm/distributed/device_communicators/custom_all_reduce.py:
// among 2, 4, 6 or 8 GPUs that are all joined by NVLink, or 2 by PCIe; up to 8 MiB; one phase below these limits.
constexpr double kMaxBytes = 8.0 * (1 << 20);
constexpr double kMaxInOnePhaseOfFour = 512.0 * (1 << 10);
constexpr double kMaxInOnePhaseOfEight = 256.0 * (1 << 10);
constexpr int kBlocks = 36;
// Each of 512 threads of a block loads 16 B of every GPU, adds them, and only then goes on.
constexpr double kBytesOfAPass = kBlocks * 512.0 * 16.0;
class OneShotPlan {
 public:
  OneShotPlan(Model const& model, Collective const& collective)
      : machine_(model.machine()),
        collective_(collective),
        gpus_(gpus_by_node(machine_, collective, "an inference engine")),
        steps_(model, collective, to_string(Library{.kind = LibraryKind::OneShot}), "the engine's kernel") {
    refuse_other_gpus();
  }

  Plan make() {
    bool const one_phase = is_one_phase();
    auto& choice = steps_.choice();
    choice.algorithm = one_phase ? "one-shot" : "two-shot";
    choice.protocol = "Simple";
    choice.channels = kBlocks;
    steps_.remark(one_phase ? "few bytes: every GPU loads all of the others' data and adds it"
                            : "every GPU adds its part of all data, then loads the other parts");
    auto const n = static_cast<double>(count());
    auto const phases = one_phase ? 1.0 : 2.0;
    auto const each = one_phase ? bytes() : bytes() / n;  // that a GPU loads of another one in a phase
    // GPUs tell one another that their data are there, and after each phase that they are through. Only the first
    // access of the first phase is in the steps.
    auto const& block = figures::block(machine_.part_of(gpus_.front().front()));
    auto const told = block.told * ((1 + phases) / 2);
    auto const again = steps_.first_access(request(gpus_.front()[0], gpus_.front()[1], each)) * (phases - 1);
    steps_.begin(gpus_, told + again + block.pass * (phases * std::floor(each / kBytesOfAPass)));
    steps_.name_next(choice.algorithm);
    for (auto const a : gpus_.front())
      for (auto const b : gpus_.front())
        if (a != b) steps_.add(request(a, b, each * phases));
    return steps_.finish(LibrarySteps::FirstAccess::InStep);
  }

 private:
  [[nodiscard]] std::size_t count() const { return gpus_.front().size(); }
  [[nodiscard]] double bytes() const { return static_cast<double>(collective_.bytes.value()); }
  [[nodiscard]] bool is_one_phase() const {
    if (count() == 2) return true;
    return bytes() < (count() <= 4 ? kMaxInOnePhaseOfFour : kMaxInOnePhaseOfEight);
  }
  [[nodiscard]] Request request(PciId from, PciId to, double bytes) const {
    return steps_.between_gpus(from, to, bytes, Op::Read);
  }

  void refuse_other_gpus() const {
    if (collective_.op != CollectiveOp::AllReduce)
      throw PlanError(
          fmt::format("inference engines have kernels of their own for all_reduce and all_to_all, not for {}",
                      to_string(collective_.op)));
    if (gpus_.size() > 1) throw PlanError("the kernels of inference engines reach the GPUs of one node");
    if (count() % 2 != 0 || count() > 8)
      throw PlanError(fmt::format("an inference engine's kernel is for 2, 4, 6 or 8 GPUs, not for {}", count()));
    for (auto const a : gpus_.front())
      for (auto const b : gpus_.front())
        if (count() > 2 && a != b && !has_nvlink(machine_, a, b))
          throw PlanError(
              fmt::format("an inference engine uses its kernel among more than two GPUs only where NVLink or "
                          "xGMI joins all of them; nothing joins '{}' and '{}'",
                          machine_.name_of(a), machine_.name_of(b)));
  }

  Machine const& machine_;
  Collective const& collective_;
  std::vector<std::vector<PciId>> gpus_;
  LibrarySteps steps_;
};

}  // namespace

Plan plan_of(Model const& model, Collective const& collective) {
  if (collective.op == CollectiveOp::AllToAll) return token_exchange(model, collective);
  if (static_cast<double>(collective.bytes.value()) <= kMaxBytes) return OneShotPlan(model, collective).make();
  auto plan = nccl::plan_of(model, collective, Library{});
  plan.library->remarks.insert(plan.library->remarks.begin(),
                               "above 8 MiB an inference engine leaves an all-reduce to NCCL");
  return plan;
}

}  // namespace lanewise::engine
