#pragma once
#include <string>

#include "core/diagnosis/diagnosis.hpp"

namespace lanewise {

// Grades by series, the figures that do not pass (worst first), and the likely causes.
std::string diagnosis_text(Diagnosis const& diagnosis);

}  // namespace lanewise
