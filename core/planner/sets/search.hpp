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
enum class Effort : std::uint8_t {
  Quick,  // the cheapest drafts alone: 56 transfers in about two milliseconds on any machine
  Full,   // and costly ones while there is much to gain
};
// What a plan is sought for.
struct Aim {
  Objective objective = Objective::Makespan;
  Effort effort = Effort::Full;
};
// By how much a plan that uses host memory beside NVLink must be faster than one that does not. One transfer's part
// through the host is predicted well: on 2 x H200 128 MiB to 1 GiB to within 3 %, 6 to 12 % faster. Where several share
// host memory, that of a guest may give half of what it could: an exchange of 1 GiB predicted 11 % faster was 2 %
// slower on one host and 12 % on another, an all_gather of 256 MiB predicted 4 % faster was 20 % slower.
constexpr double kBetterThroughHost = 1.0 / 8;
// Of one transfer, and of some that all go by NVLink, where those are planned as if PCIe carried what it does on the
// slowest machine of ten: whoever gets less than was planned would be the last.
constexpr double kSurelyBetterThroughHost = 0.04;
// And by this, for staged origins end some microseconds later than predicted whatever their size: exchanges of 32 MiB 8
// to 10 us, of 64 MiB 4 to 6 us, single transfers up to 8 us.
constexpr Seconds kSurelyEarlierThroughHost{4e-6};

// `each`: the plan in which every transfer goes its best way by itself; it is what comes back where nothing is clearly
// better. All its costs must be known, and it must have transfers.
//
// Cheap drafts are tried first, and with full effort costly ones while the best so far is clearly above what no plan
// could beat: a set of 56 transfers is planned in some milliseconds on NVSwitch, in a tenth of a second on PCIe
// switches, and in some seconds on a mesh of NVLink.
Plan find_best_plan(Plan const& each, Model const& model, Aim aim);

}  // namespace lanewise
