#include "core/interop/machines/topo_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "core/interop/machines/matrix_text.hpp"
#include "core/interop/machines/p2p_status.hpp"
#include "core/interop/words.hpp"

namespace lanewise {
namespace {

constexpr int kMaxNvlinks = 1024;

struct DistanceWord {
  std::string_view text;
  PathClass path;
};
// Drivers before 2016 printed SOC for SYS.
constexpr std::array<DistanceWord, 7> kDistanceWords{{{"X", PathClass::Self},
                                                      {"PIX", PathClass::Pix},
                                                      {"PXB", PathClass::Pxb},
                                                      {"PHB", PathClass::Phb},
                                                      {"NODE", PathClass::Node},
                                                      {"SYS", PathClass::Sys},
                                                      {"SOC", PathClass::Sys}}};

std::optional<TopoMatrix::Cell> cell_of(std::string_view text) {
  TopoMatrix::Cell cell;
  cell.shown = true;
  auto const* const word =
      std::find_if(kDistanceWords.begin(), kDistanceWords.end(), [&](DistanceWord const& w) { return w.text == text; });
  if (word != kDistanceWords.end()) {
    cell.path = word->path;
    return cell;
  }
  auto const links = text.starts_with("NV") ? small_number(text.substr(2)) : std::nullopt;
  if (!links || *links < 1 || *links > kMaxNvlinks) return std::nullopt;
  cell.nvlinks = *links;
  return cell;
}

bool is_core_list(std::string_view text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9' &&
         text.find_first_not_of("0123456789-,") == std::string_view::npos;
}

// "GPU3 to NIC0, ...": at most so many, and how many there are.
std::string listed(std::vector<std::string> const& items) {
  constexpr std::size_t kMaxNamed = 8;
  auto const named = std::span(items).first(std::min(kMaxNamed, items.size()));
  return fmt::format("{}{}", fmt::join(named, ", "),
                     items.size() > kMaxNamed ? fmt::format(" and {} more", items.size() - kMaxNamed) : "");
}

class MatrixReader {
 public:
  MatrixReader(SourceText const& source, MatrixText const& text) : source_(source), text_(text) {}

  TopoMatrix read() {
    read_columns();
    for (auto const& row : text_.rows) read_row(row);
    join_directions();
    matrix_.last_line = text_.last_line;
    for (auto line = text_.last_line + 1; line <= source_.line_count(); ++line)
      if (!read_legend(line)) break;
    note_what_is_missing();
    return std::move(matrix_);
  }

 private:
  void note(std::string text) { matrix_.notes.push_back(std::move(text)); }

  // ------------------------------------------------------------------------------------------------------- devices
  void read_columns() {
    for (auto const& column : text_.columns) {
      bool const ignored = is_ellipsis(column.text) ||
                           (column.text.starts_with("CPU") && small_number(column.text.substr(3)).has_value());
      device_of_column_.push_back(ignored ? std::nullopt : std::optional(matrix_.devices.size()));
      if (ignored) {
        ignored_.push_back(column.text);
        continue;
      }
      TopoMatrix::Device device;
      device.label = column.text;
      device.gpu = is_gpu_label(column.text);
      if (!device.gpu && !is_numbered_nic(column.text)) device.device_name = column.text;
      positions_.emplace(column.text, matrix_.devices.size());
      matrix_.devices.push_back(std::move(device));
    }
    auto const count = matrix_.devices.size();
    matrix_.cells.assign(count, std::vector<TopoMatrix::Cell>(count));
    for (std::size_t i = 0; i < count; ++i) {
      matrix_.cells[i][i].shown = true;
      matrix_.cells[i][i].path = PathClass::Self;
    }
    if (!ignored_.empty()) note(fmt::format("the columns {} are left out", listed(ignored_)));
  }
  static bool is_numbered_nic(std::string_view text) { return text.starts_with("NIC") && small_number(text.substr(3)); }

  std::optional<std::size_t> find(std::string_view label) const {
    auto const found = positions_.find(label);
    return found == positions_.end() ? std::nullopt : std::optional(found->second);
  }

  // ---------------------------------------------------------------------------------------------------------- rows
  void read_row(MatrixText::Row const& row) {
    auto const at = find(row.label.text);
    if (!at) return;
    auto& device = matrix_.devices[*at];
    if (device.line != 0)
      return note(fmt::format("line {}: the row '{}' stands twice; the first (line {}) is taken", row.label.line,
                              device.label, device.line));
    device.line = row.label.line;
    auto const cells = cells_of(row);
    if (is_shifted(*at, row, cells)) {
      note(fmt::format(
          "line {}: the row '{}' is shifted, for its X is not where it meets itself; the other direction is "
          "taken",
          row.label.line, device.label));
      return;
    }
    for (std::size_t i = 0; i < cells; ++i) read_cell(*at, i, row.words[i]);
    read_affinity(device, std::span(row.words).subspan(cells));
  }

  // How many words of the row are cells: fewer than columns where the author cut it.
  std::size_t cells_of(MatrixText::Row const& row) const {
    auto const columns = std::min(text_.columns.size(), row.words.size());
    for (std::size_t i = 0; i < columns; ++i) {
      auto const& text = row.words[i].text;
      if (is_core_list(text) || (is_ellipsis(text) && !is_ellipsis(text_.columns[i].text))) return i;
    }
    return columns;
  }

  bool is_shifted(std::size_t device, MatrixText::Row const& row, std::size_t cells) const {
    for (std::size_t i = 0; i < cells; ++i)
      if (row.words[i].text == "X" && device_of_column_[i] && *device_of_column_[i] != device) return true;
    return false;
  }

  void read_cell(std::size_t device, std::size_t column, PlacedWord const& word) {
    auto const other = device_of_column_[column];
    if (!other || word.text.empty() || word.text == "-" || word.text == "N/A") return;
    auto found = cell_of(word.text);
    if (!found || (*other == device && found->path != PathClass::Self)) return note_odd(device, *other, word);
    if (found->nvlinks > 0 && !(matrix_.devices[device].gpu && matrix_.devices[*other].gpu))
      return note_odd(device, *other, word);
    found->line = word.line;
    found->column = word.column;
    matrix_.cells[device][*other] = *found;
  }

  void note_odd(std::size_t device, std::size_t other, PlacedWord const& word) {
    odd_.push_back(fmt::format("'{}' of {} and {} (line {}, column {})", word.text, matrix_.devices[device].label,
                               matrix_.devices[other].label, word.line, word.column));
  }

  // "0-31,64-95  0  N/A" by the header's columns; "NUMA 0" says itself what it is.
  void read_affinity(TopoMatrix::Device& device, std::span<PlacedWord const> words) {
    std::size_t column = 0;
    std::size_t i = 0;
    while (i < words.size() && (is_ellipsis(words[i].text) || cell_of(words[i].text))) ++i;  // the rest of a cut row
    for (; i < words.size(); ++i) {
      auto const& text = words[i].text;
      if (text == "NUMA" && i + 1 < words.size() && small_number(words[i + 1].text)) {
        device.numa = small_number(words[++i].text);
        ++column;
        continue;
      }
      auto const meaning = column < text_.extras.size() ? text_.extras[column] : text_.extras.empty() ? 'c' : '?';
      ++column;
      if (!is_core_list(text)) continue;
      if (meaning == 'c')
        device.cores = text;
      else if (meaning == 'n' && !device.numa)
        device.numa = small_number(text.substr(0, text.find_first_of("-,")));
      else if (meaning == 'g')
        device.memory_numa = small_number(text);
    }
    if (device.cores.ends_with(',') || device.cores.ends_with('-')) device.cores.clear();
  }

  // ------------------------------------------------------------------------------------------------- both directions
  // A cell that one direction lacks is the other's.
  void join_directions() {
    std::vector<std::string> differing;
    for (std::size_t a = 0; a < matrix_.devices.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        auto& here = matrix_.cells[b][a];
        auto& there = matrix_.cells[a][b];
        if (!here.shown) here = there;
        if (!there.shown) there = here;
        if (here.path == there.path && here.nvlinks == there.nvlinks) continue;
        differing.push_back(fmt::format("{} to {} (lines {} and {})", matrix_.devices[b].label,
                                        matrix_.devices[a].label, here.line, there.line));
        there = here;
      }
    if (!differing.empty()) note(fmt::format("the two directions differ, the first is taken: {}", listed(differing)));
  }

  void note_what_is_missing() {
    if (!odd_.empty()) note(fmt::format("cells that say nothing known are left out: {}", listed(odd_)));
    std::vector<std::string> rows;
    std::vector<std::string> cells;
    for (std::size_t a = 0; a < matrix_.devices.size(); ++a) {
      if (matrix_.devices[a].line == 0) rows.push_back(matrix_.devices[a].label);
      for (std::size_t b = 0; b < a; ++b)
        if (!matrix_.cells[a][b].shown)
          cells.push_back(fmt::format("{} to {}", matrix_.devices[b].label, matrix_.devices[a].label));
    }
    if (!rows.empty()) note(fmt::format("the table is cut: it has no row of {}", listed(rows)));
    if (!cells.empty())
      note(fmt::format("the table does not say how far apart these are, so their distance is inferred: {}",
                       listed(cells)));
  }

  // ------------------------------------------------------------------------------------------------------- legend
  // "NIC0: mlx5_0". False when another table begins.
  bool read_legend(int line) {
    auto const words = matrix_words(source_, line);
    if (words.size() > 2 && is_gpu_label(words[0].text) && is_gpu_label(words[1].text)) return false;
    if (words.size() != 2 || !words[0].text.ends_with(':')) return true;
    auto const device = find(std::string_view(words[0].text).substr(0, words[0].text.size() - 1));
    if (device && !matrix_.devices[*device].gpu) matrix_.devices[*device].device_name = words[1].text;
    return true;
  }

  SourceText const& source_;
  MatrixText const& text_;
  TopoMatrix matrix_;
  std::map<std::string, std::size_t, std::less<>> positions_;  // of devices, by label
  std::vector<std::optional<std::size_t>> device_of_column_;
  std::vector<std::string> ignored_;
  std::vector<std::string> odd_;
};

}  // namespace

bool is_topo_cell(std::string_view text) { return cell_of(text).has_value(); }

namespace {

// Whether a matrix says how far apart devices are: every matrix of the tool has X.
bool has_distances(MatrixText const& text) {
  auto const is_distance = [](PlacedWord const& word) { return word.text != "X" && is_topo_cell(word.text); };
  return text.columns.size() == 1 || std::any_of(text.rows.begin(), text.rows.end(), [&](MatrixText::Row const& row) {
           return std::any_of(row.words.begin(), row.words.end(), is_distance);
         });
}

std::optional<MatrixText> find_topo_matrix(SourceText const& source) {
  auto text = find_matrix(source, 1, is_topo_cell);
  while (text && !has_distances(*text))
    text = find_matrix(source, std::max(text->last_line, text->columns.front().line) + 1, is_topo_cell);
  return text;
}

}  // namespace

bool has_topo_matrix(SourceText const& source) { return find_topo_matrix(source).has_value(); }

TopoMatrix read_topo_matrix(SourceText const& source) {
  auto const text = find_topo_matrix(source);
  if (!text && !read_p2p_tables(source).empty())
    refuse_at(
        source.whole(),
        "this is a table of 'nvidia-smi topo -p2p': it says what the driver allows, not how devices are connected. "
        "Give it beside the table of 'nvidia-smi topo -m', in one file, or with --against MACHINE to hold it against "
        "the rules");
  if (!text)
    refuse_at(
        source.whole(),
        "no table of 'nvidia-smi topo -m' in it: its first line names the columns, GPU0 and so on, and its rows have "
        "X, PIX, PXB, PHB, NODE, SYS, NV1, NV2, ...");
  return MatrixReader(source, *text).read();
}

}  // namespace lanewise
