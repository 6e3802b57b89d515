#include "core/planner/schedules/slice_order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace lanewise {
namespace {

using Path = std::vector<std::size_t>;

void extend_by_nearest(Path& path, std::vector<std::vector<double>> const& savings) {
  for (std::size_t at = 1; at < path.size(); ++at)
    std::iter_swap(path.begin() + static_cast<std::ptrdiff_t>(at),
                   std::max_element(path.begin() + static_cast<std::ptrdiff_t>(at), path.end(), [&](auto a, auto b) {
                     return savings[path[at - 1]][a] < savings[path[at - 1]][b];
                   }));
}

void improve_by_reversals(Path& path, std::vector<std::vector<double>> const& savings) {
  constexpr double kMoreThanRounding = 1e-9;
  auto const count = path.size();
  auto const between = [&](std::size_t a, std::size_t b) { return b < count ? savings[path[a]][path[b]] : 0; };
  for (bool better = true; better;) {
    better = false;
    for (std::size_t first = 1; first < count; ++first)
      for (auto last = first + 1; last < count; ++last) {
        auto const reversed = between(first - 1, last) + between(first, last + 1);
        if (reversed <= between(first - 1, first) + between(last, last + 1) + kMoreThanRounding) continue;
        std::reverse(path.begin() + static_cast<std::ptrdiff_t>(first),
                     path.begin() + static_cast<std::ptrdiff_t>(last) + 1);
        better = true;
      }
  }
}

}  // namespace

std::vector<std::size_t> path_of_savings(std::vector<std::vector<double>> const& savings, std::size_t start) {
  Path path(savings.size());
  std::iota(path.begin(), path.end(), std::size_t{0});
  if (path.empty()) return path;
  std::swap(path.front(), path[start]);
  extend_by_nearest(path, savings);
  improve_by_reversals(path, savings);
  return path;
}

}  // namespace lanewise
