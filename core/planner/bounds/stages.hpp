#pragma once
#include <vector>

#include "core/planner/transfer_options.hpp"

namespace lanewise {

// Divides a set of transfers into stages: every transfer of a stage waits for all transfers of the stages before, so
// the times of stages add up. The transfers of a stage wait only for one another, by their numbers in the stage. One
// stage if the set cannot be divided, or if a transfer waits for one that is listed after it.
std::vector<std::vector<OpenTransfer>> divide_into_stages(std::vector<OpenTransfer> const& transfers);

// The earliest start of each transfer, and the longest chain.
struct Precedence {
  std::vector<double> head;        // of each transfer: before it can begin
  std::vector<double> tail;        // of each transfer: what must follow it
  double longest = 0;              // the time of the longest chain; 0 if no transfer waits for another
  std::vector<std::size_t> chain;  // its transfers, last first
};

// `times`: a lower bound on the time of each transfer, in any unit.
Precedence precedence_of(std::vector<OpenTransfer> const& transfers, std::vector<double> const& times);

}  // namespace lanewise
