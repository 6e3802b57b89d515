#include "core/planner/sets/shares.hpp"

#include <algorithm>
#include <numeric>

#include "core/planner/search_limits.hpp"

namespace lanewise {

std::vector<Shares> default_shares(TransferSet const& set) {
  std::vector<Shares> shares;
  for (std::size_t i = 0; i < set.transfers.size(); ++i) {
    shares.emplace_back(set.transfers[i].options.size(), 0.0);
    shares[i][set.default_option[i]] = static_cast<double>(set.transfers[i].bytes.value());
  }
  return shares;
}

std::vector<Shares> undivided(std::vector<Shares> shares) {
  for (auto& of_transfer : shares) {
    auto const largest = std::max_element(of_transfer.begin(), of_transfer.end()) - of_transfer.begin();
    auto const bytes = std::accumulate(of_transfer.begin(), of_transfer.end(), 0.0);
    std::fill(of_transfer.begin(), of_transfer.end(), 0.0);
    of_transfer[static_cast<std::size_t>(largest)] = bytes;
  }
  return shares;
}

bool is_worth_its_start(Model const& model, OpenTransfer const& transfer, TransferOption const& option, double bytes) {
  if (bytes < kSearchLimits.min_share * static_cast<double>(transfer.bytes.value())) return false;
  auto way = option.way;
  way.chunk = Bytes(0);
  Bytes const rounded(static_cast<std::int64_t>(bytes));
  auto const demand = model.lower(transfer.from, transfer.to, rounded, option.op, way);
  auto const cost = model.cost(demand, rounded);
  return cost && rounded / cost->rate >= demand.latency();
}

void drop_small_pieces(Model const& model, OpenTransfer const& transfer, Shares& shares) {
  auto const largest = static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
  for (std::size_t o = 0; o < shares.size(); ++o) {
    if (o == largest || shares[o] <= 0 || is_worth_its_start(model, transfer, transfer.options[o], shares[o])) continue;
    shares[largest] += shares[o];
    shares[o] = 0;
  }
}

}  // namespace lanewise
