#include "core/view/matrix_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "core/io/json.hpp"
#include "core/text/table.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

// A figure with no more digits than its range deserves.
std::string rounded(double value) { return value < 10 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value); }

// " (8.4-52)": the 90 % range of an inferred figure.
std::string range_text(Matrix::Cell const& cell, bool latency) {
  auto const rate_at = [&](Seconds time) { return gigabytes_per_second(*cell.rate * (*cell.time / time)); };
  auto const low = latency ? microseconds(cell.range->low) : rate_at(cell.range->high);
  auto const high = latency ? microseconds(cell.range->high) : rate_at(cell.range->low);
  return fmt::format(" ({}-{})", rounded(low), rounded(high));
}

std::string cell_text(Matrix::Cell const& cell, Metric metric) {
  if (metric == Metric::Class) return cell.path;
  if (cell.mechanism.empty()) return "-";
  if (metric == Metric::Mechanism) return cell.mechanism;
  if (!cell.time) return "?";
  auto const latency = metric == Metric::Latency;
  auto text = latency ? fmt::format("{:.2f}", microseconds(*cell.time))
                      : fmt::format("{:.1f}", gigabytes_per_second(*cell.rate));
  return cell.inferred && cell.range ? text + range_text(cell, latency) : text;
}

std::string heading(MatrixQuery const& q, std::string const& mode) {
  auto const both = q.bidirectional ? ", both directions at once, summed" : "";
  switch (q.metric) {
    case Metric::Bandwidth:
      return fmt::format("bandwidth in GB/s of one {} {}{} (from row to column; {})", exact_text(q.bytes),
                         to_string(q.op), both, mode);
    case Metric::Latency:
      return fmt::format("time in us of one {} {}{} (from row to column; {})", exact_text(q.bytes), to_string(q.op),
                         both, mode);
    case Metric::Mechanism:
      return fmt::format("mechanism chosen for one {} {} (from row to column)", exact_text(q.bytes), to_string(q.op));
    case Metric::Class: return "path between each two (as nvidia-smi topo -m)";
  }
  return "";
}

// Names the unknown figures, or says what does.
std::string missing_text(std::set<std::string> const& missing) {
  constexpr std::size_t kMaxNamed = 4;
  if (missing.empty()) return "; `why` says which";
  std::vector<std::string> const named(
      missing.begin(), std::next(missing.begin(), static_cast<std::ptrdiff_t>(std::min(kMaxNamed, missing.size()))));
  return fmt::format(": {}{}", fmt::join(named, "; "), missing.size() > kMaxNamed ? "; ...; `why` says which" : "");
}

}  // namespace

std::string matrix_text(Matrix const& matrix) {
  auto header = matrix.names;
  header.insert(header.begin(), "");
  Table table(std::move(header));
  std::set<std::string> missing;
  bool unknown = false;
  bool inferred = false;
  for (std::size_t i = 0; i < matrix.cells.size(); ++i) {
    std::vector<std::string> row{matrix.names[i]};
    for (auto const& cell : matrix.cells[i]) {
      row.push_back(cell_text(cell, matrix.question.metric));
      unknown = unknown || row.back() == "?";
      inferred = inferred || cell.inferred;
      if (row.back() == "?" && !cell.missing.empty()) missing.insert(cell.missing);
    }
    table.add(std::move(row));
  }
  auto text = heading(matrix.question, matrix.mode) + "\n" + table.text();
  if (unknown) text += "? : legal, but a figure is unknown" + missing_text(missing) + "\n";
  if (inferred) text += "(a-b): the 90 % range, wide because generic parts stand for what is not known\n";
  return text;
}

std::string matrix_text(MatrixByClass const& matrix) {
  Table table({"pairs", "such as", "", "class", "mechanism", std::string(to_string(matrix.question.metric))});
  for (auto const& one : matrix.classes)
    table.add({std::to_string(one.pairs), one.from, one.to, one.cell.path, one.cell.mechanism,
               cell_text(one.cell, matrix.question.metric)});
  return fmt::format("{}\nof {} places by class of pairs; --places shows every pair of some of them\n{}",
                     heading(matrix.question, matrix.mode), matrix.places, table.text());
}

}  // namespace lanewise
