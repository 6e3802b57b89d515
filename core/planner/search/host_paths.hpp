#pragma once
// Whether ways through host memory are used beside NVLink. They carry some bytes more, but are predicted less well than
// NVLink, so a plan with them must be faster by a margin (SearchLimits).
#include "core/planner/sets/transfer_set.hpp"
#include "lanewise/planner/aim.hpp"

namespace lanewise {

bool goes_through_host(TransferOption const& option);
bool goes_by_nvlink(TransferOption const& option);
bool may_go_by_nvlink(OpenTransfer const& transfer);

// How plans that use host memory beside NVLink are judged.
struct HostPathMargin {
  Model model;             // to plan them with
  double min_gain = 0;     // as a fraction of their time
  Seconds min_seconds{0};  // and this much besides

  // The longest time with host memory that is acceptable, for a plan that takes `without` seconds without it.
  [[nodiscard]] Seconds longest_acceptable(double without) const {
    return Seconds((without - min_seconds.value()) / (1 + min_gain));
  }
};
HostPathMargin host_path_margin(TransferSet const& set, Model const& model, Objective objective);

// Whether host memory beside NVLink could be worth it, if all resources could be kept busy. `without_host`: the set
// without these options, whose best plan takes `seconds`.
bool may_gain_from_host(TransferSet const& without_host, TransferSet const& with_host, HostPathMargin const& margin,
                        double seconds);

// Whether a transfer goes to or from host memory, or goes through it by default and has no way by NVLink. Then no other
// should go there beside NVLink: on 2 x H200 rings beside a copy from the target GPU to the host reach 34 GB/s instead
// of 53; a set with such copies, predicted 13 % faster, was 4 to 24 % slower.
bool needs_host(TransferSet const& set);

}  // namespace lanewise
