#pragma once
// Tables for people: columns aligned, numbers to the right, nothing cut off.
#include <string>
#include <vector>

namespace lanewise {

class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  // Columns whose every cell begins with a digit, '-' or is empty are set to the right. A short row is filled up.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // Header, rows, two spaces between columns, no trailing blanks, every line ended.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace lanewise
