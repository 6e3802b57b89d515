#pragma once
// How long each resource and engine of a machine is busy with given shares. A byte counts as it would if the whole
// transfer took that option. No run is shorter than the busiest one; only staged pieces of a single chunk may be some
// percent quicker.
//
//   ShareLoads loads(set, model, shares);
//   loads.busiest_if_undivided(3, 0);  // all bytes of transfer 3 over its option 0
#include <cstddef>
#include <vector>

#include "core/planner/sets/shares.hpp"

namespace lanewise {

class ShareLoads {
 public:
  // `shares`: of each transfer. `set` and `model` must outlive it.
  ShareLoads(TransferSet const& set, Model const& model, std::vector<Shares> shares);

  // How long the busiest resource or engine would be busy if all bytes of this transfer went over this option.
  [[nodiscard]] Seconds busiest_if_undivided(std::size_t transfer, std::size_t option) const;
  // All bytes of this transfer go over this option from now on.
  void undivide(std::size_t transfer, std::size_t option);

 private:
  void add(std::vector<double>& seconds, std::size_t transfer, std::size_t option, double bytes) const;
  void move(std::vector<double>& seconds, std::size_t transfer, std::size_t option) const;

  TransferSet const& set_;
  Model const& model_;
  std::vector<Shares> shares_;
  std::vector<double> seconds_;  // of each resource, and of each engine after them
};

}  // namespace lanewise
