#include "core/workload/token_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxExperts = 1 << 20;
constexpr double kMaxTokens = 1e15;
constexpr double kMaxRowMicroseconds = 1e12;

constexpr std::string_view kCellBlanks = " \t\r";

// A decimal number from 0 to `most`.
std::optional<double> plain_number(std::string_view text, double most) {
  double value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > most) return std::nullopt;
  return value;
}

std::vector<std::string_view> table_cells(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= text.size();) {
    auto const end = std::min(text.find_first_of(separators, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

// Throws InputError naming the first text that is no number.
std::vector<double> numbers_in(SourceText const& source) {
  std::vector<double> numbers;
  for (auto const part : table_cells(source.text(), ", \t\r\n[]")) {
    if (part.empty()) continue;
    auto const number = plain_number(part, kMaxTokens);
    auto const offset = static_cast<std::size_t>(part.data() - source.text().data());
    if (!number)
      refuse_at(source.position(offset),
                fmt::format("'{}' is no number of tokens; write numbers with commas between", part.substr(0, 40)));
    numbers.push_back(*number);
    if (numbers.size() > kMaxExperts)
      refuse_at(source.position(offset), fmt::format("more than {} numbers; one for each expert", kMaxExperts));
  }
  return numbers;
}

ComputeTable::Row compute_row(std::vector<std::string_view> const& cells, SourcePos const& pos) {
  auto const number = [&](std::size_t i, double most) {
    auto const value = plain_number(trimmed(cells[i], kCellBlanks), most);
    if (!value || *value == 0)
      refuse_at(pos, fmt::format("'{}' is no number above 0", trimmed(cells[i], kCellBlanks).substr(0, 40)));
    return *value;
  };
  ComputeTable::Row row{number(0, kMaxTokens), Seconds(number(1, kMaxRowMicroseconds) * 1e-6), std::nullopt};
  if (cells.size() > 2) row.backward = Seconds(number(2, kMaxRowMicroseconds) * 1e-6);
  return row;
}

}  // namespace

std::filesystem::path file_of_scenario(SourceText const& scenario, std::string const& name) {
  std::error_code error;
  for (auto const& path : {std::filesystem::path(scenario.name()).parent_path() / name, std::filesystem::path(name)})
    if (std::filesystem::is_regular_file(path, error)) return path;
  throw InputError(fmt::format("there is no file '{}', neither beside the scenario nor where the program runs", name));
}

std::vector<double> read_expert_tokens(MapReader& reader, std::string_view key) {
  auto const* node = reader.custom(key);
  if (node == nullptr) return {};
  std::vector<double> tokens;
  if (node->kind == YamlKind::Sequence) {
    for (auto const& item : node->items) {
      auto const number = item.kind == YamlKind::Scalar ? plain_number(item.text, kMaxTokens) : std::nullopt;
      if (!number) reader.fail(item, "a number of tokens is needed for each expert");
      tokens.push_back(number.value_or(0));
    }
  } else if (node->kind == YamlKind::Scalar) {
    try {
      tokens = numbers_in(SourceText::load(file_of_scenario(reader.source(), node->text)));
    } catch (InputError const& error) {
      reader.fail(*node, error.what());
      return {};
    }
  }
  if (tokens.empty()) reader.fail(*node, fmt::format("'{}': a list of numbers, or a file of them", key));
  return tokens;
}

ComputeTable read_compute_table(SourceText const& source) {
  ComputeTable table;
  std::size_t columns = 0;
  for (int line = 1; line <= source.line_count(); ++line) {
    auto const text = source.line(line);
    auto const used = trimmed(text.substr(0, text.find('#')), kCellBlanks);
    if (used.empty()) continue;
    SourcePos const pos{source.name(), line, 1};
    auto const cells = table_cells(used, ",");
    if (columns == 0) {
      std::string header;
      for (auto const cell : cells) header += (header.empty() ? "" : ",") + std::string(trimmed(cell, kCellBlanks));
      if (header != "tokens,forward_us,backward_us" && header != "tokens,forward_us")
        refuse_at(pos, fmt::format("the header is '{}'; allowed: tokens,forward_us,backward_us and tokens,forward_us",
                                   header.substr(0, 80)));
      columns = cells.size();
      continue;
    }
    if (cells.size() != columns) refuse_at(pos, fmt::format("{} cells; the header has {}", cells.size(), columns));
    table.rows.push_back(compute_row(cells, pos));
  }
  if (table.rows.empty()) refuse_at(source.whole(), "a table of computing needs a header and a row");
  std::sort(table.rows.begin(), table.rows.end(), [](auto const& a, auto const& b) { return a.tokens < b.tokens; });
  for (std::size_t i = 1; i < table.rows.size(); ++i)
    if (table.rows[i].tokens == table.rows[i - 1].tokens)
      refuse_at(source.whole(), fmt::format("two rows of {} tokens", table.rows[i].tokens));
  return table;
}

std::optional<TableTimes> times_at(ComputeTable const& table, double tokens) {
  auto const& rows = table.rows;
  if (rows.empty() || tokens < rows.front().tokens || tokens > rows.back().tokens) return std::nullopt;
  auto const above = std::find_if(rows.begin(), rows.end(), [&](auto const& row) { return row.tokens >= tokens; });
  if (above->tokens == tokens) return TableTimes{above->forward, above->backward};
  auto const below = std::prev(above);
  auto const share = std::log(tokens / below->tokens) / std::log(above->tokens / below->tokens);
  auto const between = [&](Seconds a, Seconds b) { return a * std::pow(b / a, share); };
  TableTimes times{between(below->forward, above->forward), std::nullopt};
  if (below->backward && above->backward) times.backward = between(*below->backward, *above->backward);
  return times;
}

}  // namespace lanewise
