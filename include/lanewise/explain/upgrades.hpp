#pragma once
// Which faster resources would shorten a run: doubles the bandwidth of each likely bottleneck, then plans and runs the
// workload again.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lanewise/explain/bottleneck.hpp"
#include "lanewise/plan/executor.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"

namespace lanewise {

inline constexpr double kUpgradeFactor = 2;  // the next generation of a link, or twice its width

struct Upgrade {
  std::string what;  // "sw0.pcie.up", "all pcie_link"; for engines "gpu0.copy_engines, one more"
  double share = 0;  // its share in the lower bound; 0: it was busy, but does not determine the bound
  double bound = 0;  // the lower bound after the upgrade / before
  double run = 0;    // the makespan after the upgrade, of a new plan or this one, whichever is shorter / before
  friend bool operator==(Upgrade const&, Upgrade const&) = default;
};

// Plans and runs the workload on a changed machine.
struct Replanner {
  std::function<Plan(Model const&)> plan;
  MakeExecutor executor;
};

// Candidates are the resources and engines that determine the bound, slowed the critical path or were busiest in the
// run, and all resources of the same kind together. Sorted by the makespan after the upgrade, shortest first.
std::vector<Upgrade> upgrades(Plan const& plan, Trace const& trace, std::vector<PathStep> const& path,
                              Model const& model, Replanner const& replanner);

}  // namespace lanewise
