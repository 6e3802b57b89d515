#pragma once
#include "core/accuracy/model_pool.hpp"

namespace lanewise {

// Whether the rules and the model agree with an observation: possible, refused, chosen or faster.
FactResult evaluate_fact(ModelPool::Entry& entry, MeasuredFact const& fact);

}  // namespace lanewise
