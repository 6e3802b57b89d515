#pragma once

namespace lanewise::hw {

// How often something is run: first `warm_up` times untimed, then `repeat` times, whose median counts.
struct Repetition {
  int warm_up = 1;
  int repeat = 7;
};

}  // namespace lanewise::hw
