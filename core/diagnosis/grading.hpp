#pragma once
// The grades of single figures.
#include <vector>

#include "core/diagnosis/diagnosis.hpp"

namespace lanewise {

// How many times slower than `predicted` the figure was measured; below 1: faster.
double slowness(PointResult const& point, double predicted);
// Standard deviation of the logarithm of the figure, from its 90 % range; never below the spread between runs.
double log_deviation(PointResult const& point);

// Grades a figure by its own range.
GradedPoint graded(PointResult result);
// Lowers to Warn the figures that are clearly slower than the median of those in the same series with the same
// prediction: that median is a better reference than the model.
void warn_of_outliers(std::vector<GradedPoint>& points);

// Whether a figure warns or fails because it is slow.
bool is_slow(GradedPoint const& point);

}  // namespace lanewise
