#pragma once
// How the bytes of transfers are divided over their options.
#include <vector>

#include "core/planner/sets/transfer_set.hpp"

namespace lanewise {

// Bytes of one transfer over each of its options.
using Shares = std::vector<double>;

// All bytes of every transfer over its default option.
std::vector<Shares> default_shares(TransferSet const& set);
// All bytes of every transfer over the option that has most of them.
std::vector<Shares> undivided(std::vector<Shares> shares);

// Whether a piece is large enough to go a way of its own: SearchLimits::min_share of its transfer, and longer than it
// takes to start.
bool is_worth_its_start(Model const& model, OpenTransfer const& transfer, TransferOption const& option, double bytes);
// Moves the bytes of pieces that are not worth their start to the largest piece of the transfer.
void drop_small_pieces(Model const& model, OpenTransfer const& transfer, Shares& shares);

}  // namespace lanewise
