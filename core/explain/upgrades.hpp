#pragma once
// What would have to be wider: the narrow places of a run, each made twice as wide, and everything planned and run
// anew.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/explain/bottleneck.hpp"
#include "core/plan/executor.hpp"
#include "core/planner/bounds/lower_bound.hpp"

namespace lanewise {

inline constexpr double kUpgradeFactor = 2;  // times: the next generation of a link, or twice its width

struct Upgrade {
  std::string what;  // "sw0.pcie.up", "all pcie_link"; of engines "gpu0.copy_engines, one more"
  double share = 0;  // of the bound that it holds; 0: it was busy, but holds nothing
  double bound = 0;  // the bound then, as a share of what it was
  double run = 0;    // the run then, likewise
  friend bool operator==(Upgrade const&, Upgrade const&) = default;
};

struct Replanner {
  std::function<Plan(Model const&)> plan;
  MakeExecutor executor;
};

// Of what holds the bound, slowed the critical path or was busiest in the run, the resources and engines of the
// machine; and where it has several of a kind, all of that kind together. The largest gain first.
std::vector<Upgrade> upgrades(Plan const& plan, Trace const& trace, std::vector<PathStep> const& path,
                              Model const& model, Replanner const& replanner);

}  // namespace lanewise
