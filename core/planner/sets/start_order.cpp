#include "core/planner/sets/start_order.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/planner/search_limits.hpp"

namespace lanewise {
namespace {

struct Load {
  std::size_t resource = 0;
  double seconds = 0;      // of the resource, for all bytes of a piece
  double utilisation = 0;  // of its capacity, at the rate that the piece has alone
};

}  // namespace

std::vector<std::size_t> start_order(std::span<ReadyPiece const> pieces, Model const& model) {
  auto const resources = model.resources().count();
  std::vector<double> capacities(resources, 0);  // filled in for those that pieces use
  std::vector<Load> loads;
  std::vector<std::size_t> ends;            // of each piece's loads
  std::vector<double> total(resources, 0);  // seconds of all pieces
  for (auto const& piece : pieces) {
    for (auto const& use : piece.demand->uses) {
      auto const resource = index(use.resource);
      auto& capacity = capacities[resource];
      if (capacity == 0) capacity = model.capacity(use.resource).value_or(kUnlimited).value();
      auto const weight = use.weight.ratio();
      loads.push_back({resource, weight * piece.bytes / capacity, weight * piece.rate.value() / capacity});
      total[resource] += loads.back().seconds;
    }
    ends.push_back(loads.size());
  }
  auto const loads_of = [&](std::size_t i) {
    auto const begin = i == 0 ? 0 : ends[i - 1];
    return std::span(loads).subspan(begin, ends[i] - begin);
  };
  // A piece is as urgent as the busiest resource on its route. The large go before the small.
  std::vector<double> urgency(pieces.size(), 0);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (auto const& load : loads_of(i)) urgency[i] = std::max(urgency[i], total[load.resource]);
  std::vector<std::size_t> waiting(pieces.size());
  std::iota(waiting.begin(), waiting.end(), std::size_t{0});
  constexpr double kTolerance = 1e-6;
  std::stable_sort(waiting.begin(), waiting.end(), [&](std::size_t a, std::size_t b) {
    if (std::abs(urgency[a] - urgency[b]) > kTolerance * std::max(urgency[a], urgency[b]))
      return urgency[a] > urgency[b];
    if (pieces[a].bytes != pieces[b].bytes) return pieces[a].bytes > pieces[b].bytes;
    return pieces[a].tie_break < pieces[b].tie_break;
  });
  std::vector<std::size_t> order;
  order.reserve(pieces.size());
  std::vector<double> utilisation(resources, 0);  // in this round
  while (!waiting.empty()) {
    std::fill(utilisation.begin(), utilisation.end(), 0.0);
    std::erase_if(waiting, [&](std::size_t i) {
      auto const of_piece = loads_of(i);
      bool const fits = std::all_of(of_piece.begin(), of_piece.end(), [&](Load const& load) {
        auto const before = utilisation[load.resource];
        return before == 0 || before + load.utilisation <= kSearchLimits.uncontended_utilisation;
      });
      if (!fits) return false;
      for (auto const& load : of_piece) utilisation[load.resource] += load.utilisation;
      order.push_back(i);
      return true;
    });
  }
  return order;
}

}  // namespace lanewise
