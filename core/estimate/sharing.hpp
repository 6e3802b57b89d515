#pragma once
// How flows share capacities, which are numbered: by weighted max-min fairness (water_filling.hpp).
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/estimate/water_filling.hpp"

namespace lanewise {

class Sharing {
 public:
  struct Use {
    std::uint32_t resource = 0;
    double weight = 1;  // what one unit of the flow takes of the resource

    bool operator==(Use const&) const = default;
  };
  // One flow; the uses must outlive it.
  struct Flow {
    std::span<Use const> uses;
    double cap = 0;   // units per second; infinity: none
    double rate = 0;  // set by share()
  };

  explicit Sharing(std::vector<double> capacities)
      : capacities_(std::move(capacities)), number_(capacities_.size()), seen_(capacities_.size(), 0) {}

  [[nodiscard]] std::vector<double> const& capacities() const { return capacities_; }
  // Sets the rate of every flow. A flow that uses nothing and has no cap gets an infinite rate.
  void share(std::span<Flow* const> flows);

 private:
  std::vector<double> capacities_;
  WaterFilling filling_;
  std::vector<std::uint32_t> number_;  // of each resource that a flow uses, that in filling_
  std::vector<std::uint32_t> seen_;    // of a resource, the last share() in which a flow used it
  std::uint32_t share_ = 0;
};

// The rate of a flow that shares with nobody.
double rate_alone(Sharing::Flow const& flow, std::span<double const> capacities);

// For each resource, whether rates are the same without it: it is never full, or every flow takes at least as large a
// part of some other resource. Of two resources that are alike, one stays.
std::vector<bool> never_binding(std::vector<double> const& capacities, std::span<Sharing::Flow const> flows);

}  // namespace lanewise
