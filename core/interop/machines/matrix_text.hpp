#pragma once
// Finds the matrices of `nvidia-smi topo` in a text, also where a terminal wrapped them or their author cut them.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/interop/machines/matrix_words.hpp"
#include "lanewise/io/file.hpp"

namespace lanewise {

// A matrix as text: nothing of it is interpreted.
struct MatrixText {
  struct Row {
    PlacedWord label;
    std::vector<PlacedWord> words;  // after the label
  };
  std::vector<PlacedWord> columns;  // "GPU0", "NIC0", "mlx5_0"
  std::string extras;               // what follows them, a letter each: c(ores), n(uma), g(pu numa id), ?
  std::vector<Row> rows;
  int last_line = 0;  // of the last row
};

// Whether a text is a cell of the matrix.
using IsCell = std::function<bool(std::string_view)>;

constexpr std::size_t kMaxMatrixColumns = 256;

// The first matrix from `first_line` on whose rows hold such cells; nullopt when there is none. Throws InputError for
// more than kMaxMatrixColumns columns, and for a column that stands twice.
std::optional<MatrixText> find_matrix(SourceText const& source, int first_line, IsCell const& is_cell);

}  // namespace lanewise
