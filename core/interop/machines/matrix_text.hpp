#pragma once
// Finds the matrices of `nvidia-smi topo` in a text, as people keep them: printed by the tool, in a log, as a Markdown
// or HTML table, in a notebook, with terminal codes, wrapped by a terminal, or cut by its author.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/file.hpp"

namespace lanewise {

// A word of a line, with its place.
struct PlacedWord {
  std::string text;
  int line = 0;
  int column = 0;  // from 1
};

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

// The words of a line without what only decorates it: pipes of Markdown, tags and entities of HTML, quotes and escapes
// of notebooks, terminal codes, prompts. An empty cell between two pipes is an empty word.
std::vector<PlacedWord> matrix_words(SourceText const& source, int line);

// A whole number of at most nine digits.
std::optional<int> small_number(std::string_view text);
// Whether a text stands where an author left something out: "...".
bool is_ellipsis(std::string_view text);
// Whether a text is "GPU" and a number.
bool is_gpu_label(std::string_view text);

}  // namespace lanewise
