#include "core/interop/benchmarks/nccl_tests_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "core/machine/library_variables.hpp"

namespace lanewise {
namespace {

constexpr std::array<NcclTestsProgram, 10> kPrograms{{{"all_reduce", CollectiveOp::AllReduce},
                                                      {"all_gather", CollectiveOp::AllGather},
                                                      {"reduce_scatter", CollectiveOp::ReduceScatter},
                                                      {"broadcast", CollectiveOp::Broadcast},
                                                      {"alltoall", CollectiveOp::AllToAll},
                                                      {"sendrecv", std::nullopt},
                                                      {"reduce", CollectiveOp::Reduce},
                                                      {"scatter", CollectiveOp::Scatter},
                                                      {"gather", CollectiveOp::Gather},
                                                      {"hypercube", std::nullopt}}};

bool is_reduction(std::string_view word) {
  constexpr std::array<std::string_view, 7> kReductions{"sum", "prod", "min", "max", "avg", "all", "mulsum"};
  return std::find(kReductions.begin(), kReductions.end(), word) != kReductions.end();
}

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// The program before "_perf", as a whole word: of "./build/all_reduce_perf -b 8" all_reduce. nullptr: none.
NcclTestsProgram const* program_in(std::string_view text) {
  for (auto at = text.find("_perf"); at != std::string_view::npos; at = text.find("_perf", at + 1)) {
    auto begin = at;
    auto const belongs = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    while (begin > 0 && belongs(text[begin - 1])) --begin;
    if (auto const* program = nccl_tests_program(text.substr(begin, at - begin)); program != nullptr) return program;
  }
  return nullptr;
}

// The rank that the data comes from or goes to, -1 for none; nullopt for what is no such number.
std::optional<int> root_in(std::string_view word) {
  if (word == "-1") return -1;
  constexpr std::size_t kMaxRank = 1'000'000;
  auto const rank = index_in(word);
  return rank && *rank <= kMaxRank ? std::optional(static_cast<int>(*rank)) : std::nullopt;
}

class NcclTestsReader {
 public:
  NcclTestsReader(SourceText const& source, BenchmarkBuilder& builder, NcclTestsProgram const* given)
      : source_(source), builder_(builder), given_(given) {
    table_.program = given;
  }

  std::vector<NcclTestsTable> read() {
    auto const first = std::find_if_not(source_.text().begin(), source_.text().end(), is_blank);
    if (first != source_.text().end() && *first == '{')
      read_json();
    else
      for (auto const& line : lines_of(source_)) read_line(line);
    if (contradiction_ && tables_.empty() && table_.rows.empty())
      builder_.fail(contradiction_->first, 1, contradiction_->second);
    if (!table_.rows.empty() || tables_.empty()) tables_.push_back(table_);
    return std::move(tables_);
  }

 private:
  // What was said of ranks, program and version holds for the next table too.
  void end_table() {
    if (table_.rows.empty()) return;
    tables_.push_back(table_);
    table_.rows.clear();
  }

  // ---------------------------------------------------------------------------------------------------------- text

  void read_line(BenchmarkLine const& line) {
    if (line.has("NCCL INFO")) return read_info(line);
    auto const* program = given_ == nullptr ? program_in(line.text) : nullptr;
    bool const is_comment = line.starts_with("#");
    if (is_comment || program != nullptr) end_table();
    if (program != nullptr) table_.program = program;
    if (is_comment)
      read_comment(line);
    else if (line.words.size() >= 6 && index_in(line.words[0].text) && index_in(line.words[1].text))
      read_row(line);
  }

  // "... NCCL INFO NCCL_P2P_DISABLE set by environment to 1."
  void read_info(BenchmarkLine const& line) {
    auto const at = line.text.find("NCCL INFO NCCL_");
    auto const set = line.text.find(" set by environment to ");
    if (at != std::string_view::npos && set != std::string_view::npos && set > at) {
      auto const begin = at + std::string_view("NCCL INFO ").size();
      std::string value(line.text.substr(set + std::string_view(" set by environment to ").size()));
      while (!value.empty() && (value.back() == '.' || is_blank(value.back()))) value.pop_back();
      set_variable(std::string(line.text.substr(begin, set - begin)), value);
    }
    if (auto const version = line.text.find("NCCL version "); version != std::string_view::npos)
      read_version(line.text.substr(version + std::string_view("NCCL version ").size()));
  }

  void set_variable(std::string const& name, std::string const& value) {
    auto const* known = find_library_variable(name);
    if (known != nullptr && known->why_without_effect.empty())
      table_.variables[name] = value;
    else
      builder_.environment(name, value);
  }

  void read_comment(BenchmarkLine const& line) {
    auto const& words = line.words;
    if (line.has("Using devices")) table_.ranks.clear();
    if (auto const at = line.text.find("nccl-library="); at != std::string_view::npos)
      read_version_number(line.text.substr(at + std::string_view("nccl-library=").size()));
    if (auto const at = line.text.find("NCCL version "); at != std::string_view::npos)
      read_version(line.text.substr(at + std::string_view("NCCL version ").size()));
    if (line.has("size") && line.has("busbw")) read_header(line);
    if (line.has("(elements)")) read_units(line);
    if (words.size() < 4 || words[1].text != "Rank") return;
    NcclTestsRank rank;
    rank.line = line.number;
    rank.column = words[0].column;
    for (std::size_t i = 2; i + 1 < words.size(); ++i) {
      if (words[i].text == "on") rank.host = words[i + 1].text;
      if (words[i].text != "device") continue;
      auto const device = index_in(words[i + 1].text);
      if (!device) return builder_.fail(line.number, words[i + 1].column, "expected the number of a device");
      rank.device = *device;
    }
    if (auto const bracket = line.text.find(']'); bracket != std::string_view::npos)
      rank.product = trimmed(line.text.substr(bracket + 1), kBlanks);
    table_.ranks.push_back(std::move(rank));
  }

  // "22809": 2.28.9. Before 2.9 it was 2804.
  void read_version_number(std::string_view text) {
    auto const number = index_in(text.substr(0, text.find_first_not_of("0123456789")));
    if (number && *number >= 10000) set_version(static_cast<int>(*number / 100 % 100));
  }
  // "2.21.5+cuda12.4"
  void read_version(std::string_view text) {
    builder_.environment("nccl", trimmed(text.substr(0, text.find_first_of(" +\t")), kBlanks));
    if (!text.starts_with("2.")) return;
    auto const rest = text.substr(2);
    if (auto const minor = index_in(rest.substr(0, rest.find_first_not_of("0123456789"))))
      set_version(static_cast<int>(*minor));
  }
  void set_version(int minor) {
    auto const parsed = parse_library(fmt::format("nccl-2.{}", minor));
    if (!parsed.value) builder_.note(fmt::format("NCCL 2.{} is judged as {}", minor, to_string(table_.library)));
    table_.library = parsed.value.value_or(table_.library);
    table_.version_known = true;
  }

  // How many columns each half of a row has, and whether one tells the root.
  void read_header(BenchmarkLine const& line) {
    std::vector<std::size_t> times;
    auto const& words = line.words;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (words[i].text == "time" || words[i].text == "cputime") times.push_back(i);
    has_cpu_times_ = std::any_of(words.begin(), words.end(), [](Word const& word) { return word.text == "cputime"; });
    if (times.empty()) return;
    has_header_ = true;
    columns_ = times.size() > 1 ? times[1] - times[0] : words.size() - times[0];
    has_root_ = std::any_of(words.begin(), words.end(), [](Word const& word) { return word.text == "root"; });
  }

  // "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)"
  void read_units(BenchmarkLine const& line) {
    constexpr std::array<std::string_view, 12> kOthers{"(ns)",  "(ms)",  "(s)",   "(KB)",   "(MB)",    "(GB)",
                                                       "(KiB)", "(MiB)", "(GiB)", "(MB/s)", "(GiB/s)", "(Gb/s)"};
    for (auto const& word : line.words)
      if (std::find(kOthers.begin(), kOthers.end(), word.text) != kOthers.end())
        builder_.fail(
            line.number, word.column,
            fmt::format("'{}': nccl-tests print sizes in (B), times in (us) and bandwidths in (GB/s)", word.text));
  }

  // size count type [redop] [root], then time algbw busbw #wrong out of place, and again in place.
  void read_row(BenchmarkLine const& line) {
    auto const& words = line.words;
    NcclTestsRow row;
    row.bytes = *index_in(words[0].text);
    row.line = line.number;
    row.column = words[0].column;
    std::size_t at = 2;
    while (at < words.size() && !number_in(words[at].text)) {
      if (is_reduction(words[at].text)) row.redop = words[at].text;
      ++at;
    }
    // Without its header: each half has four columns, so an odd number of words begins with the root.
    bool const has_root = has_header_ ? has_root_ : (words.size() - at) % 2 == 1;
    if (has_root && at < words.size() && words[at].text.find('.') == std::string_view::npos) {
      row.root = root_in(words[at].text);
      ++at;
    }
    if (at + 2 >= words.size()) return builder_.fail(line.number, words[0].column, "this row is cut off");
    // A row may have its second half only.
    auto const figure = [&](std::size_t column) { return number_in(words[column].text); };
    auto from = at;
    if (from + columns_ + 2 < words.size()) {
      if (figure(from))
        row.in_place_us = figure(from + columns_);
      else
        from += columns_;
    }
    auto const time = figure(from);
    row.algorithm = figure(from + 1);
    row.bus = figure(from + 2);
    row.column = words[from].column;
    if (!time)
      return builder_.fail(line.number, words[from].column, fmt::format("'{}': expected a time", words[from].text));
    row.time_us = *time;
    if (row.bytes > 0 && (has_cpu_times_ || agrees(row))) table_.rows.push_back(std::move(row));
  }

  // Whether a row's time is that of its bandwidth, which is size / time of every program; bandwidths of a few MB/s have
  // no digits for it.
  bool agrees(NcclTestsRow const& row) {
    constexpr double kMinBandwidth = 1;  // GB/s
    constexpr double kTolerance = 0.2;
    if (!row.algorithm || *row.algorithm < kMinBandwidth) return true;
    auto const by_time = static_cast<double>(row.bytes) / row.time_us * 1e-3;
    if (std::abs(by_time / *row.algorithm - 1) <= kTolerance) return true;
    auto const what =
        fmt::format("{} B in {:g} us are {:.3g} GB/s, and the row says {:g}: is the time in another unit?", row.bytes,
                    row.time_us, by_time, *row.algorithm);
    if (!contradiction_) contradiction_ = {row.line, what};
    builder_.note(fmt::format("line {} is left out: {}", row.line, what));
    return false;
  }

  // ---------------------------------------------------------------------------------------------------------- JSON

  void read_json() {
    auto const json = json_with_positions(source_);
    auto const* config = json.find("config");
    if (auto const* arguments = json.find("args"); arguments != nullptr && given_ == nullptr)
      for (auto const& argument : arguments->items)
        if (auto const* program = program_in(argument.text); program != nullptr) table_.program = program;
    if (auto const* version = json.find("nccl_version")) {
      read_version(version->text);
      read_version_number(version->text);
    }
    if (auto const* variables = json.find("env"))
      for (auto const& item : variables->items)
        if (auto const equals = item.text.find('='); equals != std::string::npos && item.text.starts_with("NCCL_"))
          set_variable(item.text.substr(0, equals), item.text.substr(equals + 1));
    if (auto const* devices = config != nullptr ? config->find("devices") : nullptr)
      for (auto const& device : devices->items) {
        auto const text_of = [&](char const* key) {
          auto const* node = device.find(key);
          return node != nullptr ? node->text : std::string();
        };
        table_.ranks.push_back({text_of("hostname"), index_in(text_of("device")).value_or(0), text_of("device_info"),
                                device.line, device.column});
      }
    auto const* results = json.find("results");
    if (results == nullptr)
      return builder_.fail(json.line, json.column, "no 'results': this is no output of nccl-tests");
    for (auto const& result : results->items) read_result(result);
  }

  void read_result(YamlNode const& result) {
    auto const text_of = [](YamlNode const& node, char const* key) {
      auto const* found = node.find(key);
      return found != nullptr ? found->text : std::string();
    };
    NcclTestsRow row;
    row.bytes = index_in(text_of(result, "size")).value_or(0);
    if (is_reduction(text_of(result, "redop"))) row.redop = text_of(result, "redop");
    row.root = root_in(text_of(result, "root"));
    row.line = result.line;
    row.column = result.column;
    std::optional<double> time;
    bool is_cpu_time = false;  // bandwidths are those of the GPUs' time all the same
    for (auto const* side : {"out_of_place", "in_place"}) {
      auto const* half = result.find(side);
      if (half == nullptr || half->kind != YamlKind::Map) continue;
      auto found = number_in(text_of(*half, "time"));
      if (!found) {
        found = number_in(text_of(*half, "cpu_time"));
        is_cpu_time = found.has_value();
      }
      if (time) {
        row.in_place_us = found;
        continue;
      }
      time = found;
      row.algorithm = number_in(text_of(*half, "alg_bw"));
      row.bus = number_in(text_of(*half, "bus_bw"));
    }
    if (!time) return builder_.fail(row.line, row.column, "a result without a time");
    row.time_us = *time;
    if (row.bytes > 0 && (is_cpu_time || agrees(row))) table_.rows.push_back(std::move(row));
  }

  SourceText const& source_;
  BenchmarkBuilder& builder_;
  NcclTestsProgram const* given_;
  bool has_header_ = false, has_root_ = false, has_cpu_times_ = false;
  std::optional<std::pair<int, std::string>>
      contradiction_;  // the first row that contradicts itself: its line, and how
  std::size_t columns_ = 4;
  NcclTestsTable table_;  // until it ends
  std::vector<NcclTestsTable> tables_;
};

}  // namespace

NcclTestsProgram const* nccl_tests_program(std::string_view name) {
  auto const found =
      std::find_if(kPrograms.begin(), kPrograms.end(), [&](NcclTestsProgram const& p) { return p.name == name; });
  return found != kPrograms.end() ? &*found : nullptr;
}

std::vector<NcclTestsTable> read_nccl_tests_tables(SourceText const& source, BenchmarkBuilder& builder,
                                                   NcclTestsProgram const* program) {
  return NcclTestsReader(source, builder, program).read();
}

}  // namespace lanewise
