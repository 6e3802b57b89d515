#pragma once
#include <string>

#include "core/diagnosis/cluster_health.hpp"

namespace lanewise {

// A table of the findings by node, worst first; what could not be read; and the result in a sentence.
std::string health_text(ClusterHealth const& health);

}  // namespace lanewise
