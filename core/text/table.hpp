#pragma once
// Text tables: columns aligned, numbers to the right, nothing cut off.
#include <cstddef>
#include <string>
#include <vector>

namespace lanewise {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  // A column is aligned to the right when each of its cells is empty or begins with a digit or '-'. A short row is
  // padded with empty cells.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Aligns a column to the left, also where its cells begin with digits.
  void align_left(std::size_t column) { left_.push_back(column); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // Header and rows, with two spaces between columns and no trailing blanks; every line ends with a newline.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> left_;
};

}  // namespace lanewise
