#pragma once
#include "core/accuracy/model_pool.hpp"

namespace lanewise {

// Predicts one measured point with a model of the pool, alone or with all its flows at once.
PointResult evaluate_point(ModelPool& pool, ModelPool::Entry& entry, MeasuredSeries const& series,
                           MeasuredPoint const& point);

}  // namespace lanewise
