#pragma once

namespace lanewise::hw {

// How often something is run: first `warm_up` times unseen, then `repeat` times, of which medians are taken.
struct Repetition {
  int warm_up = 1;
  int repeat = 7;
};

}  // namespace lanewise::hw
