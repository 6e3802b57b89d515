#pragma once
// Over which of its ways each transfer of a set should go, and with how many bytes, so that the fullest resource is as
// little full as possible. A heuristic of fractions of a millisecond; the bound says how good it is.
#include <span>
#include <vector>

#include "core/planner/transfer_options.hpp"

namespace lanewise {

// Bytes of one transfer over each of its options.
using Shares = std::vector<double>;

struct SetMember {
  OpenTransfer const* transfer = nullptr;
  std::size_t usual = 0;  // the option it takes alone
};

struct LoadBalance {
  std::vector<Shares> shares;  // of each transfer
  Seconds longest{0};          // what is fullest, or the slowest way by itself
};
// Of transfers that run at the same time. Every transfer has at least one option.
LoadBalance balance_load(std::span<SetMember const> set, Model const& model);
// The same in a third of the time, some a little fuller.
LoadBalance balance_load_quickly(std::span<SetMember const> set, Model const& model);
// Whether shares are found whose longest is at most `time`: known sooner than the best of them.
bool can_balance_within(Seconds time, std::span<SetMember const> set, Model const& model);

// Whether a piece is large enough to go a way of its own: a share of its transfer, and longer than it takes to start.
bool is_worth_its_start(Model const& model, OpenTransfer const& transfer, TransferOption const& option, double bytes);
// Pieces too small to be worth their own start go to the largest piece of their transfer.
void drop_small_pieces(Model const& model, OpenTransfer const& transfer, Shares& shares);

}  // namespace lanewise
