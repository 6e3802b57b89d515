#pragma once
// The transfers that are planned together, and what is known of them before the search.
#include <algorithm>
#include <vector>

#include "core/planner/transfer_options.hpp"

namespace lanewise {

// All vectors have one entry per transfer.
struct TransferSet {
  std::vector<OpenTransfer> transfers;      // with the options that may be used
  std::vector<std::size_t> default_option;  // the best one for the transfer alone
  std::vector<bool> is_indivisible;         // it has its default option only and is never split
  std::vector<std::size_t> depth;           // transfers on the longest chain of dependencies before it
  std::vector<std::size_t> tie_break;       // the smaller one goes first among equals
};

// The transfers of a plan in which each goes its best way by itself. Indivisible are the driver's own copies, pageable
// memory, device DMA in accesses of a given size, atomics, Unified Memory and empty transfers.
TransferSet transfer_set(Plan const& plan, Model const& model);

// The options of all transfers numbered through: the number of each transfer's first one, and then how many there are.
std::vector<std::size_t> first_options(TransferSet const& set);

// Removes the options for which `is_excluded(option, default option, transfer)` holds. Default options stay.
template <class Predicate>
TransferSet without_options(TransferSet set, Predicate const& is_excluded) {
  for (std::size_t i = 0; i < set.transfers.size(); ++i) {
    auto& options = set.transfers[i].options;
    auto const kept = options[set.default_option[i]];
    std::erase_if(options, [&](TransferOption const& option) {
      return option.candidate != kept.candidate && is_excluded(option, kept, set.transfers[i]);
    });
    auto const at = std::find_if(options.begin(), options.end(),
                                 [&](TransferOption const& option) { return option.candidate == kept.candidate; });
    set.default_option[i] = static_cast<std::size_t>(at - options.begin());
  }
  return set;
}

}  // namespace lanewise
