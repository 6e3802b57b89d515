#pragma once
// The steps of a plan as flows over numbered capacities, which is what Sharing works on.
#include <cstdint>
#include <span>
#include <vector>

#include "core/estimate/sharing.hpp"
#include "core/estimate/step_demands.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

class FlowSet {
 public:
  // `demands`: one a step. Capacities are those of the resources that a step uses, in the order of their first use,
  // then those of the posted-write limits that apply. Uses of resources that are never binding are left out of the
  // flows.
  FlowSet(Model const& model, std::span<Step const> steps, std::span<StepDemand const> demands);
  FlowSet(FlowSet const&) = delete;  // the flows refer to its uses
  FlowSet& operator=(FlowSet const&) = delete;
  ~FlowSet() = default;

  [[nodiscard]] std::vector<double> const& capacities() const { return capacities_; }
  // One a step, without rates.
  [[nodiscard]] std::span<Sharing::Flow const> flows() const { return flows_; }
  // One for all flows with the same uses and cap, which always have the same rate; the caller may fill it in.
  [[nodiscard]] std::span<Sharing::Flow> classes() { return classes_; }
  // The class of each flow.
  [[nodiscard]] std::span<std::uint32_t const> class_of() const { return class_of_; }

 private:
  // 1 + the number that a resource of the machine has among the capacities; 0: nothing uses it.
  using Positions = std::vector<std::uint32_t>;

  Positions number_resources(Model const& model, std::span<StepDemand const> demands);
  void add_flows(std::span<StepDemand const> demands, Positions const& positions,
                 std::vector<std::vector<std::uint32_t>> const& limits_of);
  void remove_never_binding();
  void find_classes();

  std::vector<double> capacities_;
  std::vector<Sharing::Use> uses_;  // of all flows, one after another
  std::vector<Sharing::Flow> flows_;
  std::vector<Sharing::Flow> classes_;
  std::vector<std::uint32_t> class_of_;
};

}  // namespace lanewise
