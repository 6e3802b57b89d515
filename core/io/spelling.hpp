#pragma once
// Suggests the nearest of the allowed words.
#include <span>
#include <string>
#include <string_view>

namespace lanewise {

// The candidate nearest to `word` by edit distance (Levenshtein 1966; case ignored), or empty when none is within a
// third of the word's length (at least 2).
std::string nearest_spelling(std::string_view word, std::span<std::string const> candidates);
// "; did you mean 'x'?" or empty.
std::string did_you_mean(std::string_view word, std::span<std::string const> candidates);
// The same, or ";" when there is no suggestion: for a message that continues with what is allowed.
std::string did_you_mean_first(std::string_view word, std::span<std::string const> candidates);

}  // namespace lanewise
