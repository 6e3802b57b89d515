#include "core/planner/sets/piece_demands.hpp"

#include "core/estimate/demands.hpp"

namespace lanewise {
namespace {

// Searches that change the bytes of pieces a little each time ask for most sizes once only.
constexpr std::size_t kMaxKnown = 4'096;

}  // namespace

std::size_t PieceDemands::KeyHash::operator()(Key const& key) const {
  constexpr std::size_t kPrime = 1'099'511'628'211;  // of FNV-1a
  auto const option = (key.transfer * kPrime ^ key.option) * 2 + (key.is_divided ? 1 : 0);
  return option * kPrime ^ static_cast<std::size_t>(key.bytes);
}

PieceDemands::Piece PieceDemands::of(Portion const& portion, bool is_divided) {
  if (known_.size() == kMaxKnown) {
    known_.clear();
    demands_ = StepDemands(kMaxKnown);
  }
  Key const key{portion.transfer, portion.option, portion.bytes.value(), is_divided};
  if (auto const found = known_.find(key); found != known_.end())
    return {found->second.chunk, demands_[found->second.demand]};
  auto const chunk = chunk_of(set_, model_, portion, is_divided);
  demands_.add(known_demand_of(model_, step_of(set_, portion, chunk)));
  known_.emplace(key, Known{chunk, demands_.size() - 1});
  return {chunk, demands_[demands_.size() - 1]};
}

Bytes chunk_of(TransferSet const& set, Model const& model, Portion const& portion, bool is_divided) {
  auto const& transfer = set.transfers[portion.transfer];
  auto const& option = transfer.options[portion.option];
  return portion.bytes < transfer.bytes ? chunk_of_piece(model, transfer, option, portion.bytes, is_divided)
                                        : option.way.chunk;
}

Step step_of(TransferSet const& set, Portion const& portion, Bytes chunk) {
  auto const& transfer = set.transfers[portion.transfer];
  auto const& option = transfer.options[portion.option];
  Step step{transfer.id, transfer.from, transfer.to, portion.bytes, option.op, option.way, {}};
  step.offset = portion.offset;
  step.way.chunk = chunk;
  return step;
}

}  // namespace lanewise
