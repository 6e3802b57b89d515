#pragma once
#include <vector>

#include "core/planner/bounds/transfer_constraints.hpp"

namespace lanewise {

// A solution of the linear program over a set's ways.
struct TransferSolution {
  std::vector<double> weights;  // of the constraints: dual values
  std::vector<double> bytes;    // of the columns
  double makespan = 0;          // milliseconds
};

// Adds cuts on engines that a solution violates (a cutting plane method). Flows that share a resource hold their
// engines for longer than each would alone. Take flows through a resource of capacity C, each at a rate of at most u; k
// at a time move at most min(k u, C). With j = floor(C / u), whatever k is, k >= j + (rate moved - j u) / (C - j u), so
// over a time T they hold engines for at least bytes / (C - j u) - T (j u / (C - j u) - j), and together with all other
// ways for at most T times the number of engines. Returns whether any was added.
bool add_violated_engine_constraints(TransferConstraints& constraints, TransferSolution const& solution);

}  // namespace lanewise
