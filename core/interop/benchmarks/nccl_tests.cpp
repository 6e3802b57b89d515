// Reads nccl-tests and rccl-tests, as text or as their JSON: collectives by size, and sendrecv_perf, in which every
// rank sends to the next and receives from the one before, all at the same time.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/interop/benchmarks/benchmark_builder.hpp"
#include "core/machine/library_variables.hpp"
#include "core/planner/libraries/steps/link_shares.hpp"
#include "core/units/statistics.hpp"
#include "lanewise/machine/setting.hpp"

namespace lanewise {
namespace {

// Below it NCCL's time for a call and its launch make up much of a figure.
constexpr Bytes kLargeMessage{std::int64_t{16} << 20};
// A row that takes less than this many times the shortest of its table is one of launches.
constexpr double kLaunches = 1.5;
constexpr Bytes kLargeCollective{std::int64_t{128} << 10};

// What a program of nccl-tests measures. Absent op: sendrecv_perf, or a collective that is not judged.
struct Program {
  std::string_view name;
  std::optional<CollectiveOp> op;
};
constexpr std::array<Program, 10> kPrograms{{{"all_reduce", CollectiveOp::AllReduce},
                                             {"all_gather", CollectiveOp::AllGather},
                                             {"reduce_scatter", CollectiveOp::ReduceScatter},
                                             {"broadcast", CollectiveOp::Broadcast},
                                             {"alltoall", CollectiveOp::AllToAll},
                                             {"sendrecv", std::nullopt},
                                             {"reduce", std::nullopt},
                                             {"scatter", std::nullopt},
                                             {"gather", std::nullopt},
                                             {"hypercube", std::nullopt}}};
constexpr std::string_view kSendrecv = "sendrecv";

Program const* program_named(std::string_view name) {
  auto const found = std::find_if(kPrograms.begin(), kPrograms.end(), [&](Program const& p) { return p.name == name; });
  return found != kPrograms.end() ? &*found : nullptr;
}

bool is_reduction(std::string_view word) {
  constexpr std::array<std::string_view, 7> kReductions{"sum", "prod", "min", "max", "avg", "all", "mulsum"};
  return std::find(kReductions.begin(), kReductions.end(), word) != kReductions.end();
}

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// The name before "_perf", as a whole word: of "./build/all_reduce_perf -b 8" all_reduce.
std::string_view program_in(std::string_view text) {
  for (auto at = text.find("_perf"); at != std::string_view::npos; at = text.find("_perf", at + 1)) {
    auto begin = at;
    auto const belongs = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    while (begin > 0 && belongs(text[begin - 1])) --begin;
    auto const name = text.substr(begin, at - begin);
    if (program_named(name) != nullptr) return name;
  }
  return {};
}

// The rank that the data comes from or goes to, -1 for none; nullopt for what is no such number.
std::optional<int> root_in(std::string_view word) {
  if (word == "-1") return -1;
  constexpr std::size_t kMaxRank = 1'000'000;
  auto const rank = index_in(word);
  return rank && *rank <= kMaxRank ? std::optional(static_cast<int>(*rank)) : std::nullopt;
}

struct Rank {
  std::string host;
  std::size_t device = 0;
  friend bool operator==(Rank const&, Rank const&) = default;
};

// One row: what both forms of the output have.
struct Row {
  std::size_t bytes = 0;
  std::string redop;
  std::optional<int> root;
  std::optional<double> time_us, bus, algorithm;  // out of place where that was measured, else in place
  int line = 0, column = 0;
};

class NcclTestsReader {
 public:
  NcclTestsReader(SourceText const& source, Machine const& machine, BenchmarkBuilder& builder,
                  BenchmarkOptions const& options)
      : source_(source), machine_(machine), builder_(builder), options_(options) {
    if (options.sendrecv) given_ = kSendrecv;
    if (options.collective)
      for (auto const& program : kPrograms)
        if (program.op == options.collective) given_ = program.name;
    program_ = given_;
  }

  void read() {
    auto const first = std::find_if_not(source_.text().begin(), source_.text().end(), is_blank);
    if (first != source_.text().end() && *first == '{') return read_json();
    for (auto const& line : lines_of(source_)) {
      if (stopped_) return;
      read_line(line);
    }
    finish();
  }

 private:
  // ---------------------------------------------------------------------------------------------------------- text

  void read_line(BenchmarkLine const& line) {
    if (line.has("NCCL INFO")) return read_info(line);
    auto const name = given_.empty() ? program_in(line.text) : std::string_view();
    bool const is_comment = line.starts_with("#");
    if (is_comment || !name.empty()) end_table();
    if (!name.empty()) program_ = name;
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
      variables_[name] = value;
    else
      builder_.environment(name, value);
  }

  void read_comment(BenchmarkLine const& line) {
    auto const& words = line.words;
    if (line.has("Using devices")) ranks_.clear();
    if (auto const at = line.text.find("nccl-library="); at != std::string_view::npos)
      read_version_number(line.text.substr(at + std::string_view("nccl-library=").size()));
    if (auto const at = line.text.find("NCCL version "); at != std::string_view::npos)
      read_version(line.text.substr(at + std::string_view("NCCL version ").size()));
    if (line.has("size") && line.has("busbw")) read_header(line);
    if (words.size() < 4 || words[1].text != "Rank") return;
    Rank rank;
    for (std::size_t i = 2; i + 1 < words.size(); ++i) {
      if (words[i].text == "on") rank.host = words[i + 1].text;
      if (words[i].text != "device") continue;
      auto const device = index_in(words[i + 1].text);
      if (!device) return builder_.fail(line.number, words[i + 1].column, "expected the number of a device");
      rank.device = *device;
    }
    auto const bracket = line.text.find(']');
    add_rank(rank, bracket != std::string_view::npos ? line.text.substr(bracket + 1) : std::string_view(), line.number,
             words[0].column);
  }

  void add_rank(Rank const& rank, std::string_view product, int line, int column) {
    ranks_.push_back(rank);
    if (is_other_product(product) && !stopped_) {
      auto const gpus = machine_.all(PciKind::Gpu);
      builder_.fail(line, column,
                    fmt::format("this ran on '{}', and the GPUs of {} are {}: is this the machine?",
                                trimmed(product, kBlanks), machine_.name, machine_.part_of(gpus.front())->title));
      stopped_ = true;
    }
  }

  // Words that name a model have letters and digits: H100, B200, L40S, 4090.
  static std::set<std::string> models_in(std::string_view text) {
    std::set<std::string> models;
    std::string word;
    auto const end = [&] {
      auto const digits = std::count_if(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
      bool const memory = word.ends_with("GB") || word.ends_with("GIB");
      if (digits >= 2 && word.size() >= 3 && !memory && !word.starts_with("HBM")) models.insert(word);
      word.clear();
    };
    for (char const c : text) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0)
        word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      else
        end();
    }
    end();
    return models;
  }
  [[nodiscard]] bool is_other_product(std::string_view product) const {
    auto const named = models_in(product);
    auto const gpus = machine_.all(PciKind::Gpu);
    if (named.empty() || gpus.empty() || machine_.part_of(gpus.front()) == nullptr) return false;
    auto const known = models_in(machine_.part_of(gpus.front())->title);
    if (known.empty()) return false;
    return std::none_of(named.begin(), named.end(), [&](std::string const& name) {
      return std::any_of(known.begin(), known.end(),
                         [&](std::string const& other) { return other.starts_with(name) || name.starts_with(other); });
    });
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
    if (!parsed.value) builder_.note(fmt::format("NCCL 2.{} is judged as {}", minor, to_string(library_)));
    library_ = parsed.value.value_or(library_);
    version_known_ = true;
  }

  // How many columns each half of a row has, and whether one tells the root.
  void read_header(BenchmarkLine const& line) {
    std::vector<std::size_t> times;
    auto const& words = line.words;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (words[i].text == "time" || words[i].text == "cputime") times.push_back(i);
    if (times.empty()) return;
    has_header_ = true;
    columns_ = times.size() > 1 ? times[1] - times[0] : words.size() - times[0];
    has_root_ = std::any_of(words.begin(), words.end(), [](Word const& word) { return word.text == "root"; });
  }

  // size count type [redop] [root], then time algbw busbw #wrong out of place, and again in place.
  void read_row(BenchmarkLine const& line) {
    auto const& words = line.words;
    Row row;
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
    if (!figure(from) && from + columns_ + 2 < words.size()) from += columns_;
    row.time_us = figure(from);
    row.algorithm = figure(from + 1);
    row.bus = figure(from + 2);
    row.column = words[from].column;
    if (!row.time_us)
      return builder_.fail(line.number, words[from].column, fmt::format("'{}': expected a time", words[from].text));
    if (row.bytes > 0) rows_.push_back(row);
  }

  // ---------------------------------------------------------------------------------------------------------- JSON

  void read_json() {
    auto const json = json_with_positions(source_);
    auto const* config = json.find("config");
    if (auto const* arguments = json.find("args"); arguments != nullptr && given_.empty())
      for (auto const& argument : arguments->items)
        if (auto const name = program_in(argument.text); !name.empty()) program_ = name;
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
        add_rank({text_of("hostname"), index_in(text_of("device")).value_or(0)}, text_of("device_info"), device.line,
                 device.column);
      }
    auto const* results = json.find("results");
    if (results == nullptr)
      return builder_.fail(json.line, json.column, "no 'results': this is no output of nccl-tests");
    for (auto const& result : results->items)
      if (!stopped_) read_result(result);
    finish();
  }

  void read_result(YamlNode const& result) {
    auto const text_of = [](YamlNode const& node, char const* key) {
      auto const* found = node.find(key);
      return found != nullptr ? found->text : std::string();
    };
    Row row;
    row.bytes = index_in(text_of(result, "size")).value_or(0);
    if (is_reduction(text_of(result, "redop"))) row.redop = text_of(result, "redop");
    row.root = root_in(text_of(result, "root"));
    row.line = result.line;
    row.column = result.column;
    for (auto const* side : {"out_of_place", "in_place"}) {
      auto const* half = result.find(side);
      if (half == nullptr || half->kind != YamlKind::Map || row.time_us) continue;
      row.time_us = number_in(text_of(*half, "time"));
      if (!row.time_us) row.time_us = number_in(text_of(*half, "cpu_time"));
      row.algorithm = number_in(text_of(*half, "alg_bw"));
      row.bus = number_in(text_of(*half, "bus_bw"));
    }
    if (!row.time_us) return builder_.fail(row.line, row.column, "a result without a time");
    if (row.bytes > 0) rows_.push_back(row);
  }

  // --------------------------------------------------------------------------------------------------------- rows

  // What the row is of: as the output or the command line says, else as its columns tell. Empty: they do not.
  std::string_view program_of(Row const& row) const {
    if (!program_.empty()) return program_;
    auto const n = ranks_.size();
    bool const rooted = row.root && *row.root >= 0;
    if (rooted) return row.redop.empty() ? "broadcast" : "reduce";
    if (row.redop.empty() || !row.bus || !row.algorithm || *row.algorithm <= 0) return {};
    auto const factor = *row.bus / *row.algorithm;
    auto const is_of = [&](CollectiveOp op) { return std::abs(factor / passes_of(op, n) - 1) < 0.02; };
    // Of two ranks an all_reduce has the factor of sendrecv.
    if (n > 2 && is_of(CollectiveOp::AllReduce)) return "all_reduce";
    if (n > 1 && is_of(CollectiveOp::ReduceScatter)) return "reduce_scatter";
    return {};
  }

  // How many ranks there were by the bandwidths of a row, whose program may be unknown: busbw is algbw times what
  // passes a hop of a ring. They are printed with two decimals at best: as many as are listed, or all of the machine,
  // where that fits. nullopt: the row does not tell.
  std::optional<std::size_t> ranks_shown(Row const& row) const {
    if (!row.bus || !row.algorithm || *row.algorithm <= 0) return std::nullopt;
    auto const factor = *row.bus / *row.algorithm;
    auto op = factor > 1 ? CollectiveOp::AllReduce : CollectiveOp::ReduceScatter;
    if (program_.empty()) {
      if (row.redop.empty() || row.root.value_or(-1) >= 0 || std::abs(factor - 1) < 0.02) return std::nullopt;
    } else {
      auto const* program = program_named(program_);
      if (!program->op || program->op == CollectiveOp::Broadcast) return std::nullopt;
      op = *program->op;
    }
    auto const most = 2 * passes_of(op, 2);  // of ever more ranks
    if (factor >= most) return std::nullopt;
    auto const fits = [&](std::size_t ranks, double decimals) {
      return ranks > 1 && std::abs(passes_of(op, ranks) - factor) <= decimals * (1 + factor) / *row.algorithm;
    };
    if (fits(ranks_.size(), 0.05)) return ranks_.size();
    if (auto const all = machine_.all(PciKind::Gpu).size(); fits(all, 0.005)) return all;
    auto const ranks = static_cast<std::size_t>(std::round(most / (most - factor)));
    if (ranks < 2 || (fits(ranks, 0.005) && fits(ranks + 1, 0.005))) return std::nullopt;
    return ranks;
  }

  // Adds the rows of a table, once all are known: what follows them, as the version of another run, is not theirs. A
  // list of ranks may be missing or cut: then bandwidths tell how many there were, and they are taken for the machine's
  // first GPUs.
  void end_table() {
    auto const rows = std::exchange(rows_, {});
    if (rows.empty() || stopped_) return;
    auto const slower = [](Row const& a, Row const& b) { return a.bus.value_or(0) < b.bus.value_or(0); };
    auto const& fastest = *std::max_element(rows.begin(), rows.end(), slower);
    auto const gpus = machine_.all(PciKind::Gpu).size();
    auto const listed = ranks_.size();
    auto const shown = ranks_shown(fastest);
    if (shown ? listed != *shown : listed < 2) {
      auto const count = shown.value_or(listed == 0 ? gpus : 1);
      if (count < 2 || count > gpus) {
        stopped_ = true;
        return builder_.fail(
            fastest.line, fastest.column,
            count < 2 ? std::string("the lines '# Rank N ... device D' of at least two ranks must come first")
                      : fmt::format("busbw and algbw differ as with {} ranks, and {} has {} GPUs", count, machine_.name,
                                    gpus));
      }
      ranks_.assign(count, {});
      ranks_are_assumed_ = true;
      builder_.note(fmt::format(
          "{} listed; taken for {} of the {} GPUs{}",
          listed == 0 ? std::string("no ranks are") : fmt::format("{} rank{}", listed, listed == 1 ? " is" : "s are"),
          count, gpus, shown ? ", as busbw and algbw say" : ""));
    }
    auto const program = program_of(fastest);
    if (program.empty()) {
      stopped_ = true;
      return builder_.fail(fastest.line, fastest.column,
                           "nothing here says which test it was; say it: --collective OP, or --sendrecv");
    }
    for (auto const& row : rows) add(row, program);
    if (std::exchange(ranks_are_assumed_, false)) ranks_.clear();
  }

  void add(Row const& row, std::string_view program) {
    auto const bytes = Bytes(static_cast<std::int64_t>(row.bytes));
    auto const time = *row.time_us * 1e-6;
    if (program == kSendrecv) return add_sendrecv(bytes, time, row);
    auto const op = program_named(program)->op;
    if (!op || (op == CollectiveOp::Broadcast && row.root.value_or(0) > 0)) {
      ++skipped_[std::string(program)];
      return;
    }
    if (op == CollectiveOp::AllToAll && row.bytes % (16 * ranks_.size()) != 0) return;
    MeasuredSeries like;
    like.quantity = MeasuredQuantity::Makespan;
    auto& collective = like.collective.emplace();
    collective.op = *op;
    collective.library = library_;
    collective.figure = CollectiveFigure::Time;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) collective.among.push_back(place(rank, row));
    for (auto const& [name, value] : variables_) like.settings.push_back({"library.env." + name, value});
    like.name = fmt::format("{}-{}", to_string(*op), ranks_.size());
    std::replace(like.name.begin(), like.name.end(), '_', '-');
    pending_.push_back({std::move(like), bytes, time, row.line, row.column});
    if (!version_known_)
      builder_.note(fmt::format("the version of NCCL is not said; taken for {}", to_string(library_)));
  }

  // Few bytes take the time of their launches, which overlap with what they start: a row that takes hardly longer says
  // nothing of the machine. Of a table without such rows, its shortest time.
  void add_pending() {
    std::map<std::string, std::vector<double>> small;
    std::map<std::string, double> shortest;
    for (auto const& one : pending_) {
      auto const [found, is_new] = shortest.try_emplace(one.like.name, one.time);
      if (!is_new) found->second = std::min(found->second, one.time);
      if (one.bytes < kLargeCollective) small[one.like.name].push_back(one.time);
    }
    for (auto& [name, times] : small) shortest[name] = std::max(shortest[name], median(times));
    for (auto& [like, bytes, time, line, column] : pending_) {
      bool const is_of_launches = time < kLaunches * shortest.at(like.name) && bytes < kLargeMessage;
      if (bytes < kLargeCollective || is_of_launches) {
        like.name += "-small";
        like.doubtful = "the time of launches is much of it, which depends on the host";
      }
      builder_.add_collective(like, bytes, time, line, column);
    }
    pending_.clear();
  }

  void add_sendrecv(Bytes bytes, double value, Row const& row) {
    std::vector<MeasuredFlow> flows;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      flows.push_back({place(i, row), place((i + 1) % ranks_.size(), row)});
    MeasuredSeries like;
    like.quantity = MeasuredQuantity::Makespan;
    like.op = Op::Write;
    like.name = bytes < kLargeMessage ? "sendrecv-small" : "sendrecv";
    if (bytes < kLargeMessage) like.doubtful = "NCCL's own time for a call is much of it, which is not modelled";
    builder_.add(like, std::move(flows), bytes, value, row.line, row.column);
  }

  void finish() {
    end_table();
    add_pending();
    for (auto const& [program, rows] : skipped_)
      builder_.note(
          fmt::format("{} row{} of {}_perf: what NCCL does for it is not known", rows, rows == 1 ? "" : "s", program));
  }

  std::string place(std::size_t index, Row const& row) {
    if (ranks_are_assumed_) return builder_.gpu_of_rank(index, row.line, row.column);
    auto const& rank = ranks_[index];
    std::vector<std::string> hosts;
    for (auto const& known : ranks_)
      if (std::find(hosts.begin(), hosts.end(), known.host) == hosts.end()) hosts.push_back(known.host);
    auto const node = static_cast<std::size_t>(std::find(hosts.begin(), hosts.end(), rank.host) - hosts.begin());
    return builder_.gpu(rank.device, row.line, row.column, hosts.size() > 1 ? std::optional(node) : std::nullopt);
  }

  SourceText const& source_;
  Machine const& machine_;
  BenchmarkBuilder& builder_;
  BenchmarkOptions const& options_;
  std::string_view given_;  // by an option
  std::string program_;     // of the rows that follow; empty: not said
  Library library_;
  bool version_known_ = false, stopped_ = false, has_header_ = false, has_root_ = false;
  std::size_t columns_ = 4;
  std::vector<Rank> ranks_;
  bool ranks_are_assumed_ = false;
  std::vector<Row> rows_;  // of a table that has not ended
  std::map<std::string, std::string> variables_;
  struct Pending {
    MeasuredSeries like;
    Bytes bytes{0};
    double time = 0;
    int line = 0, column = 0;
  };
  std::vector<Pending> pending_;  // figures of collectives, until all are known
  std::map<std::string, int> skipped_;
};

}  // namespace

Measurement read_nccl_tests(SourceText const& source, Machine const& machine, BenchmarkOptions const& options) {
  BenchmarkBuilder builder(source, machine, options, Benchmark::NcclTests);
  builder.method("nccl-tests: the time of a call, out of place where that was measured");
  NcclTestsReader(source, machine, builder, options).read();
  return builder.finish();
}

}  // namespace lanewise
