#pragma once
// The demands of a plan's steps as they run, in a quarter of the memory of as many Demands: without routes, and with no
// room for uses that a step has not.
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "lanewise/model/resources/demand.hpp"

namespace lanewise {

// What one step needs of a machine. The fields are a Demand's; the uses are somebody else's.
struct StepDemand {
  using Engines = decltype(Demand::engines);

  StepDemand() = default;
  // A view of a demand, which must outlive it.
  explicit StepDemand(Demand const& of)
      : uses(of.uses.begin(), of.uses.size()),
        cap(of.cap),
        start(of.start),
        path(of.path),
        busy(of.busy),
        chunk(of.chunk),
        engines(of.engines),
        cap_reason(of.cap_reason) {}

  [[nodiscard]] Seconds latency() const { return start + path; }

  std::span<Use const> uses;
  BytesPerSecond cap = kUnlimited;
  Seconds start{0};
  Seconds path{0};
  Seconds busy{0};
  Bytes chunk{0};
  Engines engines;
  Cap cap_reason = Cap::None;
};

class StepDemands {
 public:
  StepDemands(StepDemands&&) = default;
  StepDemands& operator=(StepDemands&&) = default;
  StepDemands(StepDemands const&) = delete;  // the demands refer to its uses
  StepDemands& operator=(StepDemands const&) = delete;
  ~StepDemands() = default;
  // For about so many steps.
  explicit StepDemands(std::size_t steps) : block_size_(std::clamp(steps * kUsualUses, kUsualUses, kMaxBlock)) {
    demands_.reserve(steps);
  }

  // Adds a demand with room for so many uses, which the caller fills in. They keep their place.
  std::span<Use> add(StepDemand const& demand, std::size_t uses) {
    auto const room = take(uses);
    demands_.push_back(demand);
    demands_.back().uses = room;
    return room;
  }
  void add(StepDemand const& demand) {
    auto const room = add(demand, demand.uses.size());
    std::copy(demand.uses.begin(), demand.uses.end(), room.begin());
  }
  void add(Demand const& demand) { add(StepDemand(demand)); }

  [[nodiscard]] std::size_t size() const { return demands_.size(); }
  StepDemand& operator[](std::size_t step) { return demands_[step]; }
  StepDemand const& operator[](std::size_t step) const { return demands_[step]; }
  StepDemand* begin() { return demands_.data(); }
  StepDemand* end() { return demands_.data() + demands_.size(); }
  [[nodiscard]] StepDemand const* begin() const { return demands_.data(); }
  [[nodiscard]] StepDemand const* end() const { return demands_.data() + demands_.size(); }

 private:
  static constexpr std::size_t kUsualUses = 8;     // of a step
  static constexpr std::size_t kMaxBlock = 4'096;  // uses: 32 KiB

  std::span<Use> take(std::size_t uses) {
    if (uses > left_.size()) {
      auto const size = std::max(uses, block_size_);
      left_ = {blocks_.emplace_back(size).data(), size};
    }
    auto const room = left_.first(uses);
    left_ = left_.subspan(uses);
    return room;
  }

  std::vector<StepDemand> demands_;
  std::size_t block_size_;
  std::vector<std::vector<Use>> blocks_;
  std::span<Use> left_;  // of the last block
};

}  // namespace lanewise
