#pragma once
// What no plan of a set of transfers can beat: every byte goes over some legal way, every way takes its share of what
// it passes, and nothing carries more than its capacity. The least time in which that adds up, as a linear program over
// how much of each transfer goes which way; and of few transfers, the least in which ways can take turns at engines.
//
//   auto const bound = lower_bound(plan, model);
//   bound.makespan;        // no run of these transfers is shorter
//   bound.binding.front(); // what holds it there: {"gpu0.nvlink.out", 0.5}
#include <optional>
#include <string>
#include <vector>

#include "core/planner/transfer_options.hpp"

namespace lanewise {

inline constexpr char kTurnsAtEngines[] = "turns at engines";

struct LowerBound {
  // A resource, engine or way of the cut that all plans must press their bytes through, and its part of the cut: by how
  // much the bound falls, as a share of itself, for each share by which this gets wider. What turns at engines add to
  // the linear program's bound is a part of its own; the others' shares are then those of what is left.
  struct Part {
    std::string name;
    double share = 0;
    friend bool operator==(Part const&, Part const&) = default;
  };
  Seconds makespan{0};
  std::vector<Part> binding;  // largest share first
  friend bool operator==(LowerBound const&, LowerBound const&) = default;

  // By how much a run takes longer than it must at least: 0.05 is 5 %. Less than the resolution of times in files is 0.
  [[nodiscard]] double gap(Seconds run) const {
    auto const more = makespan > Seconds(0) ? run / makespan - 1 : 0;
    return more > -1e-9 && more < 1e-9 ? 0 : more;
  }
};

// By share, and those of equal share as they stand.
void sort_largest_first(std::vector<LowerBound::Part>& parts);

// Nullopt where a transfer has no way of known cost, or nothing is moved. Ways of unknown cost count as closed.
std::optional<LowerBound> lower_bound(std::vector<OpenTransfer> const& transfers, Model const& model);
std::optional<LowerBound> lower_bound(Plan const& plan, Model const& model);

// How many bytes of each transfer go over each of its options where all begin at once and that adds up to the least
// time; nullopt without a solver, or where there are too many.
struct Division {
  std::vector<std::vector<double>> bytes;
  std::vector<std::vector<double>> least_congested;  // hardly later, and least crowded; empty where each has one way
  Seconds makespan{0};                               // no plan with these options is shorter
};
std::optional<Division> best_division(std::vector<OpenTransfer> const& transfers, Model const& model);

// "gpu0.nvlink.out, gpu0.pcie.up and 3 more"
std::string binding_text(LowerBound const& bound);

}  // namespace lanewise
