#pragma once
// Looks for a plan of a set of transfers that is better than the best way of each by itself.
#include <cstdint>

#include "core/model/model.hpp"
#include "core/plan/plan.hpp"

namespace lanewise {

enum class Objective : std::uint8_t {
  Each,      // the best way of every transfer by itself, all begin in the order given
  Makespan,  // the last one ends early
  Slowdown,  // no transfer takes much longer than it would alone
};
// By how much a plan that uses host memory beside NVLink must be faster than one that does not: by more than the 90 %
// range of a staged copy. On 2 x H200 an exchange of 1 GiB predicted 9 % faster with part of it staged was 1 % faster,
// one of 128 MiB predicted 8 % faster was 8 % slower, and an all_gather of 1 GiB predicted 6 % faster was no faster.
constexpr double kBetterThroughHost = 1.0 / 6;

// `each`: the plan in which every transfer goes its best way by itself; it is what comes back where nothing is clearly
// better. All its costs must be known, and it must have transfers.
//
// Cheap drafts are tried first, and costly ones only while the best so far is clearly above what no plan could beat: a
// set of 56 transfers is planned in 2 ms on NVSwitch, and in 100 to 300 ms on PCIe switches and a mesh of NVLink.
Plan best_found(Plan const& each, Model const& model, Objective objective);

}  // namespace lanewise
