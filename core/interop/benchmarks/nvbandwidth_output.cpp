#include "core/interop/benchmarks/nvbandwidth_output.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/io/json.hpp"

namespace lanewise {
namespace {

class TextReader {
 public:
  TextReader(SourceText const& source, BenchmarkBuilder& builder) : builder_(builder), lines_(lines_of(source)) {}

  std::vector<NvbandwidthTest> read() {
    for (at_ = 0; at_ < lines_.size(); ++at_) {
      auto const& line = lines_[at_];
      if (auto const name = value_after(line, "Running "); !name.empty())
        tests_.push_back({std::string(name.substr(0, name.find('.'))), {}, line.number});
      else if (line.has("(row)") || line.has("GPU(column)") || line.starts_with("Bisect benchmarking"))
        read_matrix(line);
      else
        read_environment(line);
    }
    return std::move(tests_);
  }

 private:
  void read_environment(BenchmarkLine const& line) {
    builder_.environment("nvbandwidth", value_after(line, "nvbandwidth Version:"));
    builder_.environment("cuda runtime", value_after(line, "CUDA Runtime Version:"));
    builder_.environment("driver", value_after(line, "Driver Version:"));
    if (line.starts_with("Device 0:")) builder_.environment("gpu", value_after(line, "Device 0:"));
  }

  // Reads a line of column numbers, then a row for each number.
  void read_matrix(BenchmarkLine const& title) {
    if (tests_.empty())
      return builder_.fail(title.number, 1, "a table before any 'Running NAME.' line: which test is it of?");
    auto const header = at_ + 1;
    if (header >= lines_.size() || lines_[header].empty() || !index_in(lines_[header].words[0].text))
      return builder_.fail(title.number, 1, "a line with the numbers of the columns must follow");
    auto const columns = lines_[header].words.size();
    std::vector<std::vector<NvbandwidthCell>> rows;
    for (at_ = header + 1; at_ < lines_.size() && is_row(lines_[at_]); ++at_) {
      auto const& line = lines_[at_];
      if (line.words.size() != columns + 1) {
        builder_.fail(line.number, line.words[0].column, fmt::format("expected a row of {} figures", columns));
        continue;
      }
      std::vector<NvbandwidthCell> row;
      for (std::size_t i = 1; i < line.words.size(); ++i) row.push_back(cell(line, line.words[i]));
      rows.push_back(std::move(row));
    }
    --at_;
    // Tests of both directions print a table for each, then one of the total, which replaces them.
    tests_.back().rows = std::move(rows);
  }

  // Rows begin with a number, or with "0->4".
  static bool is_row(BenchmarkLine const& line) {
    if (line.empty()) return false;
    auto const label = line.words[0].text;
    return index_in(label.substr(0, label.find("->"))).has_value();
  }

  NvbandwidthCell cell(BenchmarkLine const& line, Word const& word) {
    auto const value = number_in(word.text);
    if (!value && word.text != "N/A")
      builder_.fail(line.number, word.column, fmt::format("'{}': expected a number or N/A", word.text));
    return {value, line.number, word.column};
  }

  BenchmarkBuilder& builder_;
  std::vector<BenchmarkLine> lines_;
  std::size_t at_ = 0;
  std::vector<NvbandwidthTest> tests_;
};

std::vector<NvbandwidthTest> read_json(SourceText const& source, BenchmarkBuilder& builder) {
  auto const root = json_with_positions(source);
  auto const* top = root.find("nvbandwidth");
  auto const* list = top != nullptr ? top->find("testcases") : nullptr;
  if (list == nullptr || list->kind != YamlKind::Sequence) {
    builder.fail(root.line, root.column, "expected {\"nvbandwidth\": {\"testcases\": [...]}}");
    return {};
  }
  for (auto const& [key, name] :
       {std::pair{"version", "nvbandwidth"}, std::pair{"CUDA Runtime Version", "cuda runtime"},
        std::pair{"Driver Version", "driver"}})
    if (auto const* node = top->find(key); node != nullptr && node->kind == YamlKind::Scalar)
      builder.environment(name, node->text);
  if (auto const* devices = top->find("GPU Device list"); devices != nullptr && !devices->items.empty())
    builder.environment("gpu", devices->items.front().text);
  std::vector<NvbandwidthTest> tests;
  for (auto const& item : list->items) {
    auto const* name = item.find("name");
    if (name == nullptr || name->kind != YamlKind::Scalar) {
      builder.fail(item.line, item.column, "a testcase without a name");
      continue;
    }
    NvbandwidthTest test{name->text, {}, name->line};
    if (auto const* matrix = item.find("bandwidth_matrix"); matrix != nullptr) {
      for (auto const& row : matrix->items) {
        std::vector<NvbandwidthCell> cells;
        for (auto const& value : row.items) {
          cells.push_back({number_in(value.text), value.line, value.column});
          if (!cells.back().value && value.text != "N/A" && value.kind != YamlKind::Null)
            builder.fail(value.line, value.column, fmt::format("'{}': expected a number or N/A", value.text));
        }
        test.rows.push_back(std::move(cells));
      }
    }
    tests.push_back(std::move(test));
  }
  return tests;
}

}  // namespace

std::vector<NvbandwidthTest> read_nvbandwidth_tests(SourceText const& source, BenchmarkBuilder& builder) {
  return is_json(source) ? read_json(source, builder) : TextReader(source, builder).read();
}

}  // namespace lanewise
