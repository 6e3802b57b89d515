#pragma once
// How flows share what they have in common: all rates rise together until something is full, those that it holds stay,
// the others rise on (max-min fairness with weights, as SimGrid shares).
#include <cstdint>
#include <span>
#include <vector>

namespace lanewise {

class Sharing {
 public:
  struct Use {
    std::uint32_t resource = 0;
    double weight = 1;  // what a unit of the flow takes of the resource
  };
  // One flow; the uses must outlive it.
  struct Flow {
    std::span<Use const> uses;
    double cap = 0;   // units a second, infinity where nothing caps it
    double rate = 0;  // filled in
  };

  explicit Sharing(std::vector<double> capacities) : capacities_(std::move(capacities)) {
    left_.resize(capacities_.size());
    weights_.resize(capacities_.size());
    full_at_.resize(capacities_.size());
  }

  [[nodiscard]] std::vector<double> const& capacities() const { return capacities_; }
  // Sets the rate of every flow. A flow that uses nothing and has no cap gets an infinite one.
  void share(std::span<Flow*> flows);

 private:
  std::vector<double> capacities_;
  std::vector<double> left_;     // of a resource
  std::vector<double> weights_;  // of the flows that still rise, by resource
  std::vector<double> full_at_;  // of a resource: their rate when it is full
  std::vector<std::uint32_t> used_;
  std::vector<Flow*> rising_;
};

// By resource: whether it is never full, or never before another one, of which every flow takes as large a part or a
// larger. Rates are the same without it. Of two that are alike one stays.
std::vector<bool> never_binding(std::vector<double> const& capacities, std::span<Sharing::Flow const> flows);

}  // namespace lanewise
