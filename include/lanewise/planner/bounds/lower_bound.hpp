#pragma once
// A lower bound on the time of any plan of a set of transfers: every byte takes some legal way, every way uses
// resources and engines, and none of these carries more than its capacity. The least time in which that adds up is a
// linear program over how much of each transfer takes which way; for few transfers, also one over which ways can take
// turns at engines.
//
//   auto const bound = lower_bound(plan, model);
//   bound->makespan;         // no run of these transfers is shorter
//   bound->binding.front();  // what binds: {"gpu0.nvlink.out", 0.5}
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

struct OpenTransfer;

inline constexpr char kTurnsAtEngines[] = "turns at engines";

inline constexpr Seconds kUnknownTime{std::numeric_limits<double>::infinity()};

struct LowerBound {
  // A resource, engine or way that binds. `share`: by how much the bound falls, relative to itself, for each relative
  // increase of this part's capacity. What turns at engines add to the bound is a part of its own (kTurnsAtEngines);
  // the shares of the others are then scaled to the rest.
  struct Part {
    std::string name;
    double share = 0;
    friend bool operator==(Part const&, Part const&) = default;
  };
  Seconds makespan{0};
  std::vector<Part> binding;    // largest share first
  Seconds known{kUnknownTime};  // the time of the plan that it was found for, if that makes it tighter
  friend bool operator==(LowerBound const&, LowerBound const&) = default;

  // How much longer a run takes than this bound: 0.05 is 5 %. Differences below the resolution of times in files are 0.
  [[nodiscard]] double gap(Seconds run) const {
    auto const more = makespan > Seconds(0) ? run / makespan - 1 : 0;
    return more > -1e-9 && more < 1e-9 ? 0 : more;
  }
};

// Stable: parts of equal share keep their order.
void sort_largest_first(std::vector<LowerBound::Part>& parts);

// Nullopt if there are no transfers or one has no way of known cost. Ways of unknown cost do not count. `known`: the
// time of some plan of these transfers. It makes the bound tighter: a piece of a better plan holds its engines no
// longer, so the time that each piece takes whatever its size cannot be spread over more bytes.
std::optional<LowerBound> lower_bound(std::vector<OpenTransfer> const& transfers, Model const& model,
                                      Seconds known = kUnknownTime);
// The bound of whatever the plan holds: transfers, one collective, or a set of jobs. `known`: as above, for transfers;
// absent: the time of the plan itself. Bounds that are compared should know the same time.
std::optional<LowerBound> lower_bound(Plan const& plan, Model const& model, std::optional<Seconds> known = {});

// "gpu0.nvlink.out, gpu0.pcie.up and 3 more"
std::string binding_text(LowerBound const& bound);

}  // namespace lanewise
