#pragma once
// How flows share capacities: weighted max-min fairness by water filling (Bertsekas & Gallager, Data Networks, 1987),
// as SimGrid's LMM solver shares. All rates rise together until a resource is full; its flows keep their rate, and the
// others rise further.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lanewise {

class Sharing {
 public:
  struct Use {
    std::uint32_t resource = 0;
    double weight = 1;  // what one unit of the flow takes of the resource
  };
  // One flow; the uses must outlive it.
  struct Flow {
    std::span<Use const> uses;
    double cap = 0;   // units per second; infinity: none
    double rate = 0;  // set by share()
  };

  explicit Sharing(std::vector<double> capacities) : capacities_(std::move(capacities)) {
    left_.resize(capacities_.size());
    weights_.resize(capacities_.size());
    full_at_.resize(capacities_.size());
    lowest_.resize(capacities_.size());
    slices_.resize(capacities_.size());
  }

  [[nodiscard]] std::vector<double> const& capacities() const { return capacities_; }
  // Sets the rate of every flow. A flow that uses nothing and has no cap gets an infinite rate.
  void share(std::span<Flow*> flows) { share(flows, 0); }
  // The same after flows have ended and none has begun, which had at least this rate in the last share() of the others:
  // slower flows keep their rates. They were held before anything of the ended ones was full.
  void share(std::span<Flow*> flows, double lowest_ended_rate);

 private:
  void let_rise(std::span<Flow*> flows, double lowest_rate);
  std::size_t hold_at_bottlenecks();
  std::size_t hold_all(double level);
  double merged_with_equal_level(double level);
  void hold_by_queue();
  void list_users();
  void hold_if_rising(std::uint32_t flow, double level);
  void hold(Flow& flow, double level);
  void take(Flow const& flow);
  void set_full_at(std::uint32_t resource);

  std::vector<double> capacities_;
  std::vector<double> left_;     // of each capacity, after the flows that have their rate
  std::vector<double> weights_;  // for each resource, the sum over the flows that still rise
  std::vector<double> full_at_;  // for each resource, the rate of these flows at which it is full
  std::vector<std::uint32_t> used_;
  std::vector<Flow*> rising_;
  std::vector<double> reached_;  // of each rising flow, the rate at which its first resource is full or its cap is met
  std::vector<double> lowest_;   // the least of these among the flows of a resource: of a bottleneck, full_at_
  std::vector<std::pair<Flow*, double>> held_;
  std::vector<double> levels_;  // ascending: all rates that flows were held at
  // Of hold_by_queue().
  struct Slice {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  std::vector<Slice> slices_;         // of each resource, its part of users_
  std::vector<std::uint32_t> users_;  // the rising flows of each resource, by their numbers in rising_
  std::vector<std::pair<double, std::uint32_t>> queue_;  // a level; a resource, or the number of resources and a flow
};

// For each resource, whether rates are the same without it: it is never full, or every flow takes at least as large a
// part of some other resource. Of two resources that are alike, one stays.
std::vector<bool> never_binding(std::vector<double> const& capacities, std::span<Sharing::Flow const> flows);

}  // namespace lanewise
