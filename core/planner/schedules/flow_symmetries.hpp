#pragma once
// Which candidate flows of a set are alike: permutations of its places under which transfers, ways and all that they
// use look the same. In an all-to-all below PCIe switches the two GPUs of a switch change places, the switches of a
// socket, and the sockets: its 56 transfers are three kinds.
#include <cstdint>
#include <vector>

#include "core/planner/schedules/candidate_flows.hpp"
#include "core/planner/sets/transfer_set.hpp"

namespace lanewise {

class FlowSymmetries {
 public:
  using Permutation = std::vector<std::uint32_t>;  // what takes the place of each flow

  // `flows`: of the set. A set with several transfers between the same two places is not looked at, nor is what
  // transfers wait for. Where a search takes too long, symmetries are missing.
  FlowSymmetries(TransferSet const& set, Model const& model, CandidateFlows const& flows);

  [[nodiscard]] bool empty() const { return generators_.empty(); }
  // The kind of each transfer: equal for those that take one another's place. From 0 on.
  [[nodiscard]] std::vector<std::uint32_t> const& kinds() const { return kinds_; }
  // The same of flows.
  [[nodiscard]] std::vector<std::uint32_t> const& kinds_of_flows() const { return kinds_of_flows_; }
  // Symmetries of which all others that were found are products (a strong generating set: Sims 1970).
  [[nodiscard]] std::vector<Permutation> const& generators() const { return generators_; }

 private:
  std::vector<Permutation> generators_;
  std::vector<std::uint32_t> kinds_;
  std::vector<std::uint32_t> kinds_of_flows_;
};

}  // namespace lanewise
