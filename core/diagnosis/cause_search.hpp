#pragma once
#include <vector>

#include "core/diagnosis/diagnosis.hpp"
#include "core/diagnosis/hypothesis.hpp"

namespace lanewise {

// Names the causes of slow points and of missing peer access: predicts a selection of points under every hypothesis,
// and adds the hypothesis that reduces the squared errors most (a robust loss) until none explains enough. `sources`
// are the measured points of `diagnosis.points`, in the same order.
void find_causes(Measurement const& measurement, AccuracyContext const& context, std::vector<SlowPoint> sources,
                 Diagnosis& diagnosis);

}  // namespace lanewise
