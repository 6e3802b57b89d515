#include "core/planner/sets/share_loads.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lanewise {

ShareLoads::ShareLoads(TransferSet const& set, Model const& model, std::vector<Shares> shares)
    : set_(set),
      model_(model),
      shares_(std::move(shares)),
      seconds_(model.resources().count() + model.resources().engine_count(), 0) {
  for (std::size_t i = 0; i < shares_.size(); ++i)
    for (std::size_t o = 0; o < shares_[i].size(); ++o) add(seconds_, i, o, shares_[i][o]);
}

Seconds ShareLoads::busiest_if_undivided(std::size_t transfer, std::size_t option) const {
  auto seconds = seconds_;
  move(seconds, transfer, option);
  return Seconds(*std::max_element(seconds.begin(), seconds.end()));
}

void ShareLoads::undivide(std::size_t transfer, std::size_t option) {
  move(seconds_, transfer, option);
  auto& shares = shares_[transfer];
  auto const bytes = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::fill(shares.begin(), shares.end(), 0.0);
  shares[option] = bytes;
}

void ShareLoads::move(std::vector<double>& seconds, std::size_t transfer, std::size_t option) const {
  for (std::size_t from = 0; from < shares_[transfer].size(); ++from) {
    add(seconds, transfer, from, -shares_[transfer][from]);
    add(seconds, transfer, option, shares_[transfer][from]);
  }
}

// Leaves out latencies: a piece may start sooner than the whole transfer.
void ShareLoads::add(std::vector<double>& seconds, std::size_t transfer, std::size_t option, double bytes) const {
  if (bytes == 0) return;
  auto const& way = set_.transfers[transfer].options[option];
  for (auto const& use : way.demand.uses) seconds[index(use.resource)] += bytes * seconds_per_byte(model_, use);
  for (auto const engine : way.demand.engines)
    seconds[model_.resources().count() + index(engine)] += bytes / way.rate.value() / model_.slots(engine);
}

}  // namespace lanewise
