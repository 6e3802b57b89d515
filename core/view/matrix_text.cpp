#include "core/view/matrix_text.hpp"

#include <fmt/format.h>

#include "core/io/json.hpp"
#include "core/text/table.hpp"
#include "core/units/text.hpp"

namespace lanewise {
namespace {

std::string cell_text(Matrix::Cell const& cell, Metric metric) {
  if (metric == Metric::Class) return cell.path;
  if (cell.mechanism.empty()) return "-";
  if (metric == Metric::Mechanism) return cell.mechanism;
  if (!cell.time) return "?";
  return metric == Metric::Latency ? fmt::format("{:.2f}", microseconds(*cell.time))
                                   : fmt::format("{:.1f}", gigabytes_per_second(*cell.rate));
}

std::string heading(Matrix const& matrix) {
  auto const& q = matrix.question;
  auto const both = q.bidirectional ? ", both directions at once, summed" : "";
  switch (q.metric) {
    case Metric::Bandwidth:
      return fmt::format("bandwidth in GB/s of one {} {}{} (from row to column; {})", exact_text(q.bytes),
                         to_string(q.op), both, matrix.mode);
    case Metric::Latency:
      return fmt::format("time in us of one {} {}{} (from row to column; {})", exact_text(q.bytes), to_string(q.op),
                         both, matrix.mode);
    case Metric::Mechanism:
      return fmt::format("mechanism chosen for one {} {} (from row to column)", exact_text(q.bytes), to_string(q.op));
    case Metric::Class: return "path between each two (as nvidia-smi topo -m)";
  }
  return "";
}

}  // namespace

std::string matrix_text(Matrix const& matrix) {
  auto header = matrix.names;
  header.insert(header.begin(), "");
  Table table(std::move(header));
  bool unknown = false;
  for (std::size_t i = 0; i < matrix.cells.size(); ++i) {
    std::vector<std::string> row{matrix.names[i]};
    for (auto const& cell : matrix.cells[i]) {
      row.push_back(cell_text(cell, matrix.question.metric));
      unknown = unknown || row.back() == "?";
    }
    table.add(std::move(row));
  }
  return heading(matrix) + "\n" + table.text() +
         (unknown ? "? : legal, but a figure is unknown; `why` says which\n" : "");
}

}  // namespace lanewise
