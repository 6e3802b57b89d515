#pragma once
// Which copy engines of a GPU work side by side in a plan: one that waits for another GPU starts later meanwhile.
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/model.hpp"
#include "core/plan/plan.hpp"

namespace lanewise {

class EngineConcurrency {
 public:
  // What it is made of must outlive it. Nothing is looked at before somebody asks.
  EngineConcurrency(Model const& model, std::span<Step const> steps, std::span<Demand const> demands)
      : model_(model), steps_(steps), demands_(demands) {}

  // Whether another engine of the GPUs whose engines a step holds may be at work meanwhile: on a step that neither must
  // be through before (`after`, in plans of up to some thousand steps; turns are not looked at), however short it is.
  bool beside(std::size_t step);

 private:
  // What one engine of a GPU is for. Where two are counted as one with slots, one is for each direction; of more, one
  // for each of these.
  enum class Purpose : std::uint8_t { Any, Out, In, Peers, Within };
  struct Work {
    std::size_t step = 0;
    EngineId engine{};
    Purpose purpose = Purpose::Any;
  };
  using Bits = std::vector<std::uint64_t>;

  void look();
  void find_what_is_before();
  static constexpr std::size_t kMaxGpus = 4;  // source, target and relays
  using Gpus = InlineVector<PciId, kMaxGpus>;
  using Works = InlineVector<Work, 2 * kMaxGpus>;
  [[nodiscard]] Gpus gpus_of(Step const& step) const;
  [[nodiscard]] Purpose purpose_of(Step const& step, PciId gpu, int slots) const;
  [[nodiscard]] Works works_of(std::size_t step, PciId gpu) const;
  [[nodiscard]] bool ordered(std::size_t a, std::size_t b) const;

  Model const& model_;
  std::span<Step const> steps_;
  std::span<Demand const> demands_;
  bool looked_ = false;
  std::vector<std::vector<Work>> of_gpu_;  // of each PCI function
  std::vector<Bits> before_;               // of each step; empty where none waits for another
};

}  // namespace lanewise
