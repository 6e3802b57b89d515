#include "core/planner/libraries/plans/token_exchange_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/resources/overheads.hpp"
#include "core/planner/libraries/steps/library_steps.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/libraries/library_name.hpp"

namespace lanewise::engine {
namespace {

// Source: NVIDIA/TensorRT-LLM, cpp/tensorrt_llm/kernels/fusedMoeCommKernels.h and .cu. Half of the multiprocessors take
// part. A channel has blocks that send and as many that receive, with a warp for each GPU, its own among them, up to
// eight in a block.
constexpr int kWarpsPerBlock = 8;
constexpr double kLeastCapability = 9;
// Of 15 x 128 B a token takes one 128 B of flags more.
constexpr double kLine = 128;
constexpr double kLinesOfFlag = 15;
// A token is taken to be this large: 7168 values of 2 bytes, as DeepSeek-V3's and most published figures.
constexpr double kToken = 14336;

class TokenExchange {
 public:
  TokenExchange(Model const& model, Collective const& collective)
      : machine_(model.machine()),
        collective_(collective),
        nodes_(gpus_by_node(machine_, collective, "an inference engine")),
        steps_(model, collective, to_string(Library{.kind = LibraryKind::OneShot}), "the engine's kernel") {
    auto const* part = machine_.part_of(gpus().front());
    if (part == nullptr || compute_capability(*part).value_or(0) < kLeastCapability)
      throw PlanError(
          fmt::format("an inference engine's all-to-all kernel is for NVIDIA's GPUs from Hopper on, and '{}' "
                      "is none",
                      machine_.name_of(gpus().front())));
    if (nodes_.size() > 1)
      throw PlanError("an inference engine's all-to-all kernel reaches the GPUs that NVLink joins");
    for (auto const a : gpus())
      for (auto const b : gpus())
        if (a != b && !has_nvlink(machine_, a, b))
          throw PlanError(
              fmt::format("an inference engine's all-to-all kernel goes over NVLink; nothing joins '{}' and "
                          "'{}'",
                          machine_.name_of(a), machine_.name_of(b)));
  }

  Plan make() {
    auto& choice = steps_.choice();
    choice.algorithm = "token exchange";
    choice.protocol = "LL128";
    choice.channels = channels();
    steps_.remark(
        fmt::format("{} channels, in each a warp for every GPU, {} of them in a block; tokens of {} B are "
                    "assumed",
                    channels(), warps_per_block(), kToken));
    if (compute_capability(*machine_.part_of(gpus().front())) < 10)
      steps_.remark("the rates of its warps were measured on GB200; they are taken for this GPU too");
    auto const tokens = std::max(1.0, of_pair() / kToken);
    auto const token = of_pair() / tokens;
    auto const lines = std::ceil(token / kLine);
    auto const on_link = (lines + std::ceil(lines / kLinesOfFlag)) * kLine / token;
    // The last round of the channels is as long as a whole one.
    auto const uneven = std::ceil(tokens / channels()) - tokens / channels();
    auto const rate = overheads::warp_rate(warps_per_block());
    auto const last = Bytes(static_cast<std::int64_t>(token * on_link)) / rate * uneven;
    steps_.begin(nodes_, overheads::kFusedKernelStart + last);
    steps_.name_next("exchange");
    for (auto const a : gpus())
      for (auto const b : gpus()) {
        if (a == b) continue;
        steps_.add(steps_.between_gpus(a, b, of_pair() * on_link, Op::Write), [&](Way& way) {
          way.warps = channels();
          way.warps_per_block = warps_per_block();
        });
      }
    return steps_.finish(LibrarySteps::FirstAccess::InStep);
  }

 private:
  [[nodiscard]] std::vector<PciId> const& gpus() const { return nodes_.front(); }
  [[nodiscard]] int count() const { return static_cast<int>(gpus().size()); }
  [[nodiscard]] double of_pair() const { return static_cast<double>(collective_.bytes.value()) / count(); }
  [[nodiscard]] int warps_per_block() const { return std::min(count(), kWarpsPerBlock); }
  [[nodiscard]] int channels() const {
    auto const* part = machine_.part_of(gpus().front());
    if (part == nullptr || !part->gpu.multiprocessors)
      throw PlanError(
          fmt::format("an inference engine's all-to-all kernel has half of the multiprocessors, and how many "
                      "'{}' has is not known",
                      machine_.name_of(gpus().front())));
    auto const blocks = 2 * ((count() + kWarpsPerBlock - 1) / kWarpsPerBlock);  // of a channel: to send, and to receive
    return std::max(1, *part->gpu.multiprocessors / 2 / blocks);
  }

  Machine const& machine_;
  Collective const& collective_;
  std::vector<std::vector<PciId>> nodes_;
  LibrarySteps steps_;
};

}  // namespace

Plan token_exchange(Model const& model, Collective const& collective) {
  return TokenExchange(model, collective).make();
}

}  // namespace lanewise::engine
