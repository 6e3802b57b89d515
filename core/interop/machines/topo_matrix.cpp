#include "core/interop/machines/topo_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "core/interop/words.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxDevices = 256;
constexpr int kMaxNvlinks = 1024;

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? std::optional(value) : std::nullopt;
}

bool is_gpu_label(std::string_view text) { return text.starts_with("GPU") && whole_number(text.substr(3)); }

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
  auto const* const word =
      std::find_if(kDistanceWords.begin(), kDistanceWords.end(), [&](DistanceWord const& w) { return w.text == text; });
  if (word != kDistanceWords.end()) {
    cell.path = word->path;
    return cell;
  }
  auto const links = text.starts_with("NV") ? whole_number(text.substr(2)) : std::nullopt;
  if (!links || *links < 1 || *links > kMaxNvlinks) return std::nullopt;
  cell.nvlinks = *links;
  return cell;
}

bool is_core_list(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789-,") == std::string_view::npos;
}

class MatrixReader {
 public:
  explicit MatrixReader(SourceText const& source) : source_(source) {}

  TopoMatrix read() {
    int line = 1;
    while (line <= source_.line_count() && !is_header(words_of(source_.line(line)))) ++line;
    if (line > source_.line_count())
      fail_whole("no table of 'nvidia-smi topo -m' in it: its first line names the columns, GPU0 and so on");
    read_header(line);
    diagnostics_.throw_if_any();
    for (++line; line <= source_.line_count() && !is_complete(); ++line)
      if (!read_row(line)) break;
    check_rows_are_there();
    for (; line <= source_.line_count(); ++line) read_legend(line);
    diagnostics_.throw_if_any();
    check_symmetry();
    diagnostics_.throw_if_any();
    return std::move(matrix_);
  }

 private:
  void fail(int line, int column, std::string message) {
    diagnostics_.add({source_.name(), line, column}, std::move(message), source_.line(line));
  }
  [[noreturn]] void fail_whole(std::string message) const { refuse_at(source_.whole(), std::move(message)); }

  static bool is_header(std::vector<Word> const& words) {
    return !words.empty() && is_gpu_label(words[0].text) && (words.size() == 1 || !cell_of(words[1].text));
  }

  // -------------------------------------------------------------------------------------------------------- header
  void read_header(int line) {
    header_line_ = line;
    auto const words = words_of(source_.line(line));
    std::size_t i = 0;
    for (; i < words.size() && !begins_affinity(words, i); ++i) {
      auto const text = std::string(words[i].text);
      if (find(text)) fail(line, words[i].column, fmt::format("the column '{}' stands twice", text));
      TopoMatrix::Device device;
      device.label = text;
      device.gpu = is_gpu_label(text);
      if (!device.gpu && !is_numbered_nic(text)) device.device_name = text;
      matrix_.devices.push_back(std::move(device));
      columns_.push_back(words[i].column);
    }
    if (matrix_.devices.size() > kMaxDevices)
      fail(line, 1, fmt::format("{} columns; at most {} are read", matrix_.devices.size(), kMaxDevices));
    for (; i < words.size(); ++i) {
      if (words[i].text == "CPU")
        extras_.push_back('c');
      else if (words[i].text == "NUMA" && i + 1 < words.size() && words[i + 1].text == "Affinity")
        extras_.push_back('n');
      else if (words[i].text == "GPU")
        extras_.push_back('g');
    }
    matrix_.cells.resize(matrix_.devices.size());
  }

  // "CPU Affinity", "NUMA Affinity" or "GPU NUMA ID" begins here.
  static bool begins_affinity(std::vector<Word> const& words, std::size_t i) {
    auto const& text = words[i].text;
    return text == "CPU" || text == "NUMA" || text == "GPU";
  }
  static bool is_numbered_nic(std::string_view text) { return text.starts_with("NIC") && whole_number(text.substr(3)); }

  std::optional<std::size_t> find(std::string_view label) const {
    auto const found = std::find_if(matrix_.devices.begin(), matrix_.devices.end(),
                                    [&](auto const& device) { return device.label == label; });
    return found == matrix_.devices.end() ? std::nullopt
                                          : std::optional(static_cast<std::size_t>(found - matrix_.devices.begin()));
  }

  // ---------------------------------------------------------------------------------------------------------- rows
  bool is_complete() const {
    return std::none_of(matrix_.devices.begin(), matrix_.devices.end(),
                        [](auto const& device) { return device.line == 0; });
  }

  // Returns false when the line begins the legend instead.
  bool read_row(int line) {
    auto const words = words_of(source_.line(line));
    if (words.empty()) return true;
    if (words[0].text == "Legend:" || (words[0].text == "NIC" && words.size() > 1)) return false;
    auto const row = find(words[0].text);
    if (!row) {
      fail(line, words[0].column, fmt::format("a row of '{}', which is not a column", words[0].text));
      return true;
    }
    auto& device = matrix_.devices[*row];
    if (device.line != 0) {
      fail(line, words[0].column,
           fmt::format("the row '{}' stands twice (first at line {})", device.label, device.line));
      return true;
    }
    device.line = line;
    read_cells(line, *row, words);
    if (words.size() > matrix_.devices.size())
      read_affinity(line, device, std::span(words).subspan(matrix_.devices.size() + 1));
    return true;
  }

  void read_cells(int line, std::size_t row, std::vector<Word> const& words) {
    auto const columns = matrix_.devices.size();
    for (std::size_t i = 0; i < columns; ++i) {
      auto& cell = matrix_.cells[row].emplace_back();
      if (i + 1 >= words.size()) {
        if (i + 1 == words.size())
          fail(line, static_cast<int>(source_.line(line).size()) + 1,
               fmt::format("the row '{}' has {} of {} cells", words[0].text, i, columns));
        continue;
      }
      auto const& word = words[i + 1];
      if (auto const found = cell_of(word.text))
        cell = *found;
      else
        fail(line, word.column,
             fmt::format("'{}' is not known; allowed: X, PIX, PXB, PHB, NODE, SYS, NV1, NV2, ...", word.text));
      cell.line = line;
      cell.column = word.column;
      if ((cell.path == PathClass::Self) != (i == row))
        fail(line, word.column, "X stands where a device meets itself, and only there");
      if (cell.nvlinks > 0 && !(matrix_.devices[i].gpu && matrix_.devices[row].gpu))
        fail(line, word.column, "NVLink joins GPUs only");
    }
  }

  void read_affinity(int line, TopoMatrix::Device& device, std::span<Word const> words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      auto const& [text, column] = words[i];
      auto const meaning = i < extras_.size() ? extras_[i] : ' ';
      if (meaning == ' ') return fail(line, column, "more cells than columns");
      if (text == "N/A" || meaning == 'g') continue;
      if (!is_core_list(text))
        return fail(line, column, fmt::format("'{}' is not a list of numbers such as 0-31,64-95", text));
      if (meaning == 'c')
        device.cores = text;
      else
        device.numa = whole_number(text.substr(0, text.find_first_of("-,")));
    }
  }

  void check_rows_are_there() {
    for (std::size_t i = 0; i < matrix_.devices.size(); ++i)
      if (matrix_.devices[i].line == 0)
        fail(header_line_, columns_[i], fmt::format("the column '{}' has no row", matrix_.devices[i].label));
  }

  // "NIC0: mlx5_0"
  void read_legend(int line) {
    auto const words = words_of(source_.line(line));
    if (words.size() != 2 || !words[0].text.ends_with(':')) return;
    auto const device = find(words[0].text.substr(0, words[0].text.size() - 1));
    if (device && !matrix_.devices[*device].gpu) matrix_.devices[*device].device_name = words[1].text;
  }

  void check_symmetry() {
    for (std::size_t a = 0; a < matrix_.devices.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        auto const& here = matrix_.at(a, b);
        auto const& there = matrix_.at(b, a);
        if (here.path != there.path || here.nvlinks != there.nvlinks)
          fail(here.line, here.column,
               fmt::format("{} to {} differs from {} to {} (line {})", matrix_.devices[a].label,
                           matrix_.devices[b].label, matrix_.devices[b].label, matrix_.devices[a].label, there.line));
      }
  }

  SourceText const& source_;
  Diagnostics diagnostics_;
  TopoMatrix matrix_;
  std::vector<int> columns_;  // of each device's name in the header
  std::vector<char> extras_;  // columns after the table: c(ores), n(uma), g(pu numa id)
  int header_line_ = 0;
};

}  // namespace

TopoMatrix read_topo_matrix(SourceText const& source) { return MatrixReader(source).read(); }

}  // namespace lanewise
