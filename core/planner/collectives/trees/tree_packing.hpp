#pragma once
// The most that passing on can do: each byte of a broadcast or all_gather reaches everyone along a tree of legs, some
// through host memory, and what all trees together take of links and engines decides how long that lasts. The least
// time is a linear program over all trees (Edmonds, Edge-disjoint branchings, 1973, packs them in graphs; here they
// share resources with weights). Trees are added while one is cheaper, at the prices of what is full, than those there
// are.
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/estimate/sharing.hpp"
#include "core/model/model.hpp"
#include "core/plan/collective.hpp"
#include "core/plan/plan.hpp"
#include "core/planner/bounds/lower_bound.hpp"

namespace lanewise {

// One way of bytes from a place to another with nothing between.
struct Leg {
  std::uint32_t from = 0, to = 0;  // positions among the places
  Way way;
  Op op = Op::Copy;
  // What says how fast its pieces go.
  std::vector<Sharing::Use> uses = {};      // of the packing's capacities
  std::vector<std::uint32_t> engines = {};  // likewise: one slot of each
  BytesPerSecond cap = kUnlimited;          // of one flow
  Seconds handover{0};                      // before a piece flows
};

struct PackedTree {
  std::size_t root = 0;  // the participant whose data it carries
  double bytes = 0;
  std::vector<std::uint32_t> legs;  // none before the one that reaches where it begins
};

struct Packing {
  std::vector<Leg> legs;
  std::vector<PackedTree> trees;
  std::vector<double> capacities = {};  // of what legs share, in bytes a second; of their engines, slots
};

// Whom data may pass: the participants, and behind them others.
struct Sites {
  std::vector<Place> places;
  std::size_t participants = 0;
};

// How the trees of a plan are to be.
struct PackingStyle {
  bool by_kernels = false;                                      // between GPUs no copy engine moves them
  bool host_by_kernels = false;                                 // through host memory kernels do, else copy engines
  std::vector<double> setup_cost_weights;                       // what all that is taken counts beside what is crowded
  Seconds time_limit{std::numeric_limits<double>::infinity()};  // trees that take so long are of no use
};

// Whether packed_trees() does it: a broadcast or all_gather, with a solver, and so few that may or may not pass data on
// that all choices can be looked at.
bool can_be_packed(Collective const& collective, Sites const& sites);

// Trees that are through in nearly the least time, and of those the ones that leave most room on all that need not be
// full, and have few hops, for each thrift. Empty where it cannot be packed, where somebody cannot be reached over ways
// of known capacity, and where no trees are through in time.
std::vector<Packing> packed_trees(Collective const& collective, Sites const& sites, Model const& model,
                                  PackingStyle const& style);

// No trees are through in less, by the engines that GPUs have and however many kernels.
std::optional<LowerBound> packing_bound(Collective const& collective, Sites const& sites, Model const& model);

}  // namespace lanewise
