#include "core/planner/rounds.hpp"

#include <algorithm>
#include <numeric>

namespace lanewise {

std::vector<std::size_t> in_rounds(std::span<Ordered const> pieces, Model const& model) {
  auto const resources = model.resources().count();
  std::vector<double> load(resources, 0);  // seconds of all pieces
  for (auto const& piece : pieces)
    for (auto const& use : piece.demand->uses)
      if (auto const capacity = model.capacity(use.resource))
        load[index(use.resource)] += use.weight.ratio() * piece.bytes / capacity->value();
  // The fullest thing that a piece passes; it goes before others that pass less full ones, the large before the small.
  std::vector<double> urgency(pieces.size(), 0);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (auto const& use : pieces[i].demand->uses) urgency[i] = std::max(urgency[i], load[index(use.resource)]);
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
      auto const& piece = pieces[i];
      auto const share = [&](Use const& use) {
        auto const capacity = model.capacity(use.resource);
        return capacity ? use.weight.ratio() * piece.rate.value() / capacity->value() : 0;
      };
      bool const fits = std::all_of(piece.demand->uses.begin(), piece.demand->uses.end(), [&](Use const& use) {
        auto const before = taken[index(use.resource)];
        return before == 0 || before + share(use) <= kHardlyShared;
      });
      if (!fits) return false;
      for (auto const& use : piece.demand->uses) taken[index(use.resource)] += share(use);
      order.push_back(i);
      return true;
    });
  }
  return order;
}

}  // namespace lanewise
