#pragma once
// Tests that sweep over machines or random inputs. Every change is held to a fixed sample; `./setup.sh sweep` goes over
// the whole: it sets LANEWISE_SWEEP=whole and runs the tests that ask for it.
#include <cstdlib>
#include <string_view>

namespace lanewise::test {

inline bool is_whole_sweep() {
  auto const* wanted = std::getenv("LANEWISE_SWEEP");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  return wanted != nullptr && std::string_view(wanted) == "whole";
}

// How many random inputs are tried.
inline int rounds(int in_sample, int in_whole) { return is_whole_sweep() ? in_whole : in_sample; }

}  // namespace lanewise::test
