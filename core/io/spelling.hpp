#pragma once
// "did you mean ...": the nearest of the allowed words.
#include <span>
#include <string>
#include <string_view>

namespace lanewise {

// The candidate nearest to `word` by edit distance (case ignored), or empty when none is near enough to be meant.
std::string nearest_spelling(std::string_view word, std::span<std::string const> candidates);
// "; did you mean 'x'?" or empty.
std::string did_you_mean(std::string_view word, std::span<std::string const> candidates);
// The same, or ";": for a message that goes on with what is allowed.
std::string did_you_mean_first(std::string_view word, std::span<std::string const> candidates);

}  // namespace lanewise
