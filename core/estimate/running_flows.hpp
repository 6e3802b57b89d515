#pragma once
// The flows of a run and how far they are.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "core/estimate/active_flows.hpp"
#include "core/estimate/flow_set.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

class RunningFlows {
 public:
  // Both must outlive it. `steps`: those of the flows.
  RunningFlows(FlowSet& flows, std::span<Step const> steps)
      : flows_(flows), steps_(steps), active_(flows.capacities(), flows.classes()), classes_(flows.classes().size()) {}

  void begin(std::size_t step);
  // Gives flows their rates. After flows have begun or ended, before anything below is asked.
  void share() { active_.share(); }

  [[nodiscard]] bool empty() const { return busy_.empty(); }
  // Infinity: there are none.
  [[nodiscard]] double seconds_to_next_end() const;
  // Lets this time pass. Appends to `ended` the flows that end by then or less than `slack` seconds after it; if there
  // are such, the time until the last of them passes too. Returns that, in seconds.
  double pass(double seconds, double slack, std::vector<std::size_t>& ended);

 private:
  // All flows of a class have one rate, so the bytes that each has moved since one time say when which ends: the
  // virtual time of fair queueing (Demers, Keshav and Shenker, 1989).
  struct Class {
    using End = std::pair<double, std::size_t>;  // the value of `moved` at which it is, and the step
    double moved = 0;                            // bytes, by each
    std::priority_queue<End, std::vector<End>, std::greater<>> ends;  // of its flows
  };

  double pass(std::uint32_t flow_class, double seconds, double slack, std::vector<std::size_t>& ended);
  [[nodiscard]] double rate_of(std::uint32_t flow_class) const { return flows_.classes()[flow_class].rate; }
  // Bytes, of the flow that ends first.
  [[nodiscard]] double left_of(std::uint32_t flow_class) const {
    return classes_[flow_class].ends.top().first - classes_[flow_class].moved;
  }

  FlowSet& flows_;
  std::span<Step const> steps_;
  ActiveFlows active_;
  std::vector<Class> classes_;
  std::vector<std::uint32_t> busy_;  // classes with flows
};

}  // namespace lanewise
