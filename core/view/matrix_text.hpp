#pragma once
#include <string>

#include "lanewise/explain/matrix.hpp"

namespace lanewise {

// One figure for every pair, senders in rows and receivers in columns.
std::string matrix_text(Matrix const& matrix);
std::string matrix_text(MatrixByClass const& matrix);  // a row for each class of pairs

}  // namespace lanewise
