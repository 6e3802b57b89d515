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
  auto const [found, is_new] =
      known_.try_emplace({portion.transfer, portion.option, portion.bytes.value(), is_divided});
  auto& [chunk, number] = found->second;
  if (is_new) {
    auto const& transfer = set_.transfers[portion.transfer];
    auto const& option = transfer.options[portion.option];
    chunk = portion.bytes < transfer.bytes ? chunk_of_piece(model_, transfer, option, portion.bytes, is_divided)
                                           : option.way.chunk;
    number = demands_.size();
    demands_.add(known_demand_of(model_, step_of(set_, portion, chunk)));
  }
  return {chunk, demands_[number]};
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
