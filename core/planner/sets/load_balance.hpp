#pragma once
// Divides the bytes of transfers over their options so that the busiest resource is as little busy as possible.
//
// Minimises a high-power norm of the loads by moving bytes from options of high marginal cost to options of low one, as
// in on-line load balancing by L_p norms (Awerbuch, Azar, Grove, Kao, Krishnan and Vitter, 1995). A heuristic that
// takes fractions of a millisecond; the lower bound says how good its result is.
#include <span>
#include <vector>

#include "core/planner/sets/shares.hpp"

namespace lanewise {

struct SetMember {
  OpenTransfer const* transfer = nullptr;
  std::size_t default_option = 0;  // where its bytes are at first
};

struct LoadBalance {
  std::vector<Shares> shares;  // of each transfer
  Seconds longest{0};          // time of the busiest resource or engine, or of the slowest share alone
};
// Of transfers that run at the same time. Every transfer has at least one option.
LoadBalance balance_load(std::span<SetMember const> set, Model const& model);
// About three times faster; the busiest resource may be slightly busier.
LoadBalance balance_load_quickly(std::span<SetMember const> set, Model const& model);
// Whether balance_load finds shares whose `longest` is at most `time`. Stops as soon as either answer is certain.
bool can_balance_within(Seconds time, std::span<SetMember const> set, Model const& model);

}  // namespace lanewise
