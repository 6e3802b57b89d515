#pragma once
// Which candidates nothing else is better than.
#include <vector>

#include "core/design/comparison.hpp"

namespace lanewise {

// Sets `on_front`: nobody is at least as good in score, price and power, and better in one. What is unknown does not
// count.
void find_front(std::vector<CandidateResult>& all);

// Sets `beaten_by` of generated candidates that another one with as many GPUs beats: it is as fast in every job, takes
// no more of any part, costs and draws no more, and breaks no limit that the other one keeps. (Of fewer GPUs a job of
// all of them may take less time, but it does less.) Candidates without jobs are left alone. Throws Interrupted.
void find_beaten(std::vector<CandidateResult>& all);

}  // namespace lanewise
