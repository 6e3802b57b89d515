#pragma once
// Searches the order in which the transfers of a draft begin. Which of them meet at an engine or a link depends on it:
// below PCIe switches, orders of the same division of the bytes differ by several percent.
#include <vector>

#include "core/planner/search/rated_draft.hpp"

namespace lanewise {

// Changes the order of each draft at random and keeps what lowers its value; then the better half of the drafts is
// changed twice as often, until one is left (successive halving, Jamieson and Talwalkar 2016). Returns the best draft
// with its evaluation, which has no steps where no change lowered any value. Ends at `good_enough` (seconds, or a ratio
// of times as the values are). The same drafts give the same result.
RatedDraft search_orders(std::vector<TriedDraft> drafts, TransferSet const& set, Rating const& rating,
                         double good_enough);

}  // namespace lanewise
