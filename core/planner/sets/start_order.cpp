#include "core/planner/sets/start_order.hpp"

#include <algorithm>
#include <numeric>

namespace lanewise {

namespace {

struct Take {
  std::size_t resource = 0;
  double seconds = 0;  // of the resource, for all of a piece
  double part = 0;     // of its capacity, at the rate that the piece has alone
};

}  // namespace

std::vector<std::size_t> start_order(std::span<ReadyPiece const> pieces, Model const& model) {
  auto const resources = model.resources().count();
  std::vector<double> capacities(resources, 0);  // of what pieces pass
  std::vector<Take> takes;
  std::vector<std::size_t> ends;           // of a piece's takes
  std::vector<double> load(resources, 0);  // seconds of all pieces
  for (auto const& piece : pieces) {
    for (auto const& use : piece.demand->uses) {
      auto const resource = index(use.resource);
      auto& capacity = capacities[resource];
      if (capacity == 0) capacity = model.capacity(use.resource).value_or(kUnlimited).value();
      auto const weight = use.weight.ratio();
      takes.push_back({resource, weight * piece.bytes / capacity, weight * piece.rate.value() / capacity});
      load[resource] += takes.back().seconds;
    }
    ends.push_back(takes.size());
  }
  auto const takes_of = [&](std::size_t i) {
    auto const begin = i == 0 ? 0 : ends[i - 1];
    return std::span(takes).subspan(begin, ends[i] - begin);
  };
  // The fullest thing that a piece passes; it goes before others that pass less full ones, the large before the small.
  std::vector<double> urgency(pieces.size(), 0);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (auto const& take : takes_of(i)) urgency[i] = std::max(urgency[i], load[take.resource]);
  std::vector<std::size_t> left(pieces.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  constexpr double kAsLong = 1e-6;
  std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
    if (std::abs(urgency[a] - urgency[b]) > kAsLong * std::max(urgency[a], urgency[b])) return urgency[a] > urgency[b];
    if (pieces[a].bytes != pieces[b].bytes) return pieces[a].bytes > pieces[b].bytes;
    return pieces[a].turn < pieces[b].turn;
  });
  std::vector<std::size_t> order;
  order.reserve(pieces.size());
  std::vector<double> taken(resources, 0);  // of a resource's capacity in this round
  while (!left.empty()) {
    std::fill(taken.begin(), taken.end(), 0.0);
    std::erase_if(left, [&](std::size_t i) {
      auto const of_piece = takes_of(i);
      bool const fits = std::all_of(of_piece.begin(), of_piece.end(), [&](Take const& take) {
        auto const before = taken[take.resource];
        return before == 0 || before + take.part <= kUncontendedUtilisation;
      });
      if (!fits) return false;
      for (auto const& take : of_piece) taken[take.resource] += take.part;
      order.push_back(i);
      return true;
    });
  }
  return order;
}

}  // namespace lanewise
