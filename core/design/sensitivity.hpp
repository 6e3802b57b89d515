#pragma once
// How sure a ranking is: every figure of the model moved through its range, one at a time and all together.
#include <cstdint>
#include <string>
#include <vector>

#include "lanewise/model/resources/parameter.hpp"

namespace lanewise {

// The lead of the first candidate over the second, its score over the other's, with one figure at each end.
struct Swing {
  Parameter parameter{};
  double at_low = 1;
  double at_high = 1;
  [[nodiscard]] bool decides() const { return (at_low < 1) != (at_high < 1); }
};

// How often one candidate has a higher score than another.
struct Duel {
  std::size_t first = 0, second = 0;  // candidates
  double share = 0;                   // of draws in which the first wins
};

struct Sensitivity {
  std::vector<Swing> swings;  // of the two best, widest first; those below 0.1 % are left out
  std::vector<Duel> duels;    // each candidate and the next of the ranking
  std::size_t draws = 0;
  std::uint64_t seed = 0;
};

// What is tried: nothing moved, each figure at both ends of its range, and `draws` of all of them together. Draws are
// log-normal with the range of a figure as its 90 % interval; of generic parts, which have ranges of their own, an end
// or the middle. The same seed gives the same draws. All candidates are assumed to err alike: a figure of the model is
// the same on every machine.
std::vector<Assumptions> sensitivity_samples(std::size_t draws, std::uint64_t seed);

// `scores`: of all candidates under each of these samples. `ranking`: positions of candidates, the best first.
Sensitivity find_sensitivity(std::vector<std::vector<double>> const& scores, std::vector<std::size_t> const& ranking,
                             std::uint64_t seed);

// What to measure to know a figure better: "nvbandwidth device_to_device_memcpy_read_ce".
std::string_view measurement_of(Parameter parameter);

}  // namespace lanewise
