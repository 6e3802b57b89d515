#pragma once
// Which candidate flows of a set are alike: permutations of its places under which transfers, ways and all that they
// use look the same. In an all-to-all below PCIe switches the two GPUs of a switch change places, the switches of a
// socket, and the sockets: its 56 transfers are three kinds.
#include <cstdint>
#include <optional>
#include <vector>

#include "core/planner/schedules/candidate_flows.hpp"
#include "core/planner/sets/transfer_set.hpp"

namespace lanewise {

class FlowSymmetries {
 public:
  // `flows`: of the set. Transfers between the same two places have no symmetries that are found.
  FlowSymmetries(TransferSet const& set, Model const& model, CandidateFlows const& flows);

  // Permutations of the flows, by flow, of which all others are made (a strong generating set: Sims 1970).
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> const& generators() const { return generators_; }
  [[nodiscard]] bool empty() const { return generators_.empty(); }
  // The kind of each transfer: equal for those that take one another's place. From 0 on.
  [[nodiscard]] std::vector<std::uint32_t> const& kinds() const { return kinds_; }
  // The same of flows.
  [[nodiscard]] std::vector<std::uint32_t> const& kinds_of_flows() const { return kinds_of_flows_; }

 private:
  std::vector<std::vector<std::uint32_t>> generators_;
  std::vector<std::uint32_t> kinds_;
  std::vector<std::uint32_t> kinds_of_flows_;
};

}  // namespace lanewise
