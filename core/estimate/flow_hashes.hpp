#pragma once
// ECMP: each flow takes the cables that a hash of its addresses gives. Nobody knows the hash before, so a plan has as
// many makespans as there are hashes.
#include <cstdint>
#include <optional>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/plan/time_range.hpp"
#include "lanewise/plan/trace.hpp"

namespace lanewise {

struct FlowHashes {
  Model median;            // with the hash whose makespan is the median of those that were tried
  std::uint32_t seed = 0;  // of that hash
  int tried = 0;
  TimeRange range;    // 90 % of the makespans, as estimated
  Seconds middle{0};  // the median, as estimated

  // Says in the trace which hash its run had, and sets its range to that of all hashes.
  void note_in(Trace& trace) const;
};

// Nullopt where the hash does not matter: the fabric's routing is not ecmp, or the model has a hash already. Nullopt
// for a folded plan, too: its steps stand for many flows.
std::optional<FlowHashes> flow_hashes(Model const& model, Plan const& plan);

// What the trace of such a plan says in the place of a hash.
inline constexpr char kMeanOfHashes[] = "the mean of all";
void note_mean_of_hashes(Trace& trace, Model const& model, Plan const& plan);

}  // namespace lanewise
