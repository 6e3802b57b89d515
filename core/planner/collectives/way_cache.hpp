#pragma once
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "core/plan/collective.hpp"
#include "core/planner/collectives/algorithms/transfer_schedule.hpp"
#include "core/planner/collectives/trees/packing.hpp"
#include "core/planner/planner.hpp"

namespace lanewise {

// What carries transfers that do not reduce.
enum class Movers : std::uint8_t {
  Fastest,  // a copy engine or a kernel, whichever takes less time alone
  Kernels,  // a kernel wherever possible: a GPU runs more of them than it has copy engines
};

// The best way of each transfer of a collective, found once for each pair of participants and size.
class WayCache {
 public:
  struct Entry {
    Way way;
    Op op = Op::Copy;
  };

  // `places`: the participants, then the host memories that schedules may pass.
  WayCache(Model const& model, Collective const& collective, std::vector<Place> const& places, Movers movers)
      : model_(model), planner_(model), collective_(collective), places_(places), movers_(movers) {}

  // The ways of transfers that name a leg.
  void set_legs(std::vector<Leg> const& legs);
  // Throws PlanError if no way between the two places is legal.
  Entry const& way_of(TransferSchedule::Transfer const& transfer);

 private:
  Entry choose(TransferSchedule::Transfer const& transfer);
  [[nodiscard]] Choice choice_of(Request request) const;

  Model const& model_;
  Planner planner_;
  Collective const& collective_;
  std::vector<Place> const& places_;
  Movers movers_;
  std::vector<Entry> legs_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t, bool>, Entry> entries_;  // from, to, bytes, reduces
};

}  // namespace lanewise
