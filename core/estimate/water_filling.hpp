#pragma once
// Weighted max-min fairness by water filling (Bertsekas & Gallager, Data Networks, 1987), as SimGrid's LMM solver
// shares: all rates rise together until a resource is full; its flows keep their rate, and the others rise further.
//
//   WaterFilling filling;
//   auto const wire = filling.add_resource(30);
//   filling.add_flow(5);  // no faster than 5
//   filling.add_use(wire, 1);
//   filling.add_flow(std::numeric_limits<double>::infinity());
//   filling.add_use(wire, 1);
//   filling.fill();  // rates(): 5 and 25
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lanewise {

class WaterFilling {
 public:
  // Forgets all flows and resources.
  void clear();
  // Returns its number, from 0 on. `capacity`: in units per second.
  std::uint32_t add_resource(double capacity);
  // `cap`: in units per second; infinity: none.
  void add_flow(double cap);
  // The flow that was added last gets no more.
  void limit(double cap) { caps_.back() = std::min(caps_.back(), cap); }
  // By the flow that was added last. `weight`: what one unit of the flow takes of the resource.
  void add_use(std::uint32_t resource, double weight) {
    uses_.push_back({resource, weight});
    resources_[resource].weight += weight;
  }

  // In held_by(): the flow's cap, not a resource.
  static constexpr std::uint32_t kCap = 0xffffffff;

  // Of a resource.
  struct Result {
    double taken = 0;    // of its capacity
    double fastest = 0;  // the largest rate of its flows
    double level = -1;   // the rate of the flows that it holds; negative: it holds none
  };

  // Sets the rate of every flow. A flow that uses nothing and has no cap gets an infinite rate.
  void fill();
  // In units per second, in the order in which the flows were added.
  [[nodiscard]] std::span<double const> rates() const { return rates_; }
  // What holds each flow at its rate: a resource that is full then, or kCap.
  [[nodiscard]] std::span<std::uint32_t const> held_by() const { return held_by_; }
  // Fills in the results, once rates are filled.
  void sum_up();
  // By the resources' numbers.
  [[nodiscard]] std::span<Result const> results() const { return results_; }

 private:
  struct Resource {
    double left = 0;     // of its capacity, after the flows that have their rate
    double weight = 0;   // the sum over the flows that still rise
    double full_at = 0;  // the rate of these flows at which it is full
    double lowest = 0;   // the least reached_ of its flows: of a bottleneck, full_at
  };
  struct Use {
    std::uint32_t resource = 0;
    double weight = 1;
  };
  struct Slice {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  std::size_t hold_at_bottlenecks();
  std::size_t hold_all(double level);
  double merged_with_equal_level(double level);
  void hold_by_queue();
  void list_users();
  void hold_if_rising(std::uint32_t flow, double level, std::uint32_t by);
  void hold(std::uint32_t flow, double level);
  [[nodiscard]] std::span<Use const> uses_of(std::uint32_t flow) const {
    return std::span(uses_).subspan(first_use_[flow], first_use_[flow + 1] - first_use_[flow]);
  }

  std::vector<Resource> resources_;
  std::vector<double> caps_;              // of a flow
  std::vector<double> rates_;             // of a flow
  std::vector<std::uint32_t> held_by_;    // of a flow: a resource or kCap
  std::vector<std::uint32_t> first_use_;  // of a flow; while it fills, one more at the end
  std::vector<Use> uses_;
  std::vector<Result> results_;
  // While it fills.
  std::vector<std::uint32_t> rising_;  // flows
  std::vector<double> reached_;  // of each of these, the rate at which its first resource is full or its cap is met
  std::vector<std::pair<std::uint32_t, double>> held_;
  std::vector<double> levels_;  // ascending: all rates that flows were held at
  // Of hold_by_queue().
  int queues_left_ = 0;          // fills that take it without trying rounds; clear() keeps it: the next fills are alike
  std::vector<char> is_rising_;  // of a flow
  std::size_t still_rising_ = 0;                         // how many of them
  std::vector<Slice> slices_;                            // of each resource, its part of users_
  std::vector<std::uint32_t> users_;                     // the rising flows of each resource
  std::vector<std::pair<double, std::uint32_t>> queue_;  // a level; a resource, or the number of resources and a flow
};

}  // namespace lanewise
