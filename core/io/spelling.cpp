#include "core/io/spelling.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

namespace lanewise {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  auto const lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      auto const substituted = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_spelling(std::string_view word, std::span<std::string const> candidates) {
  constexpr std::size_t kMaxWordLength = 64;
  if (word.size() > kMaxWordLength) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (auto const& candidate : candidates) {
    if (candidate.size() > kMaxWordLength) continue;
    auto const distance = edit_distance(word, candidate);
    if (distance < best_distance) best_distance = distance, best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<std::string const> candidates) {
  auto const nearest = nearest_spelling(word, candidates);
  return nearest.empty() ? std::string() : "; did you mean '" + nearest + "'?";
}

std::string did_you_mean_first(std::string_view word, std::span<std::string const> candidates) {
  auto hint = did_you_mean(word, candidates);
  return hint.empty() ? ";" : hint;
}

}  // namespace lanewise
