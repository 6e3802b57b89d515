// Reads p2pBandwidthLatencyTest of the CUDA samples. Sizes and units are from its source: versions that distinguish
// reads from writes copy 40,000,000 integers, older ones 10,000,000; figures on the diagonal count bytes read and
// written.
#include <fmt/format.h>

#include "core/interop/benchmarks/benchmark_builder.hpp"

namespace lanewise {
namespace {

constexpr Bytes kCopy{160'000'000}, kOldCopy{40'000'000};
constexpr Bytes kLatencyCopy{16}, kOldLatencyCopy{4};

struct MatrixKind {
  bool enabled = false;  // P2P=Enabled
  bool reads = false;    // the row's GPU reads from the column's; false: it writes to it
  bool both_ways = false;
  bool latency = false;
};

class P2pTestReader {
 public:
  P2pTestReader(SourceText const& source, BenchmarkBuilder& builder) : builder_(builder), lines_(lines_of(source)) {
    for (auto const& line : lines_)
      names_direction_ = names_direction_ || line.has("(P2P Writes)") || line.has("(P2P Reads)");
  }

  void read() {
    for (at_ = 0; at_ < lines_.size(); ++at_) {
      auto const& line = lines_[at_];
      if (line.starts_with("Device: 0,")) builder_.environment("gpu", name_of(line));
      if (line.starts_with("P2P Connectivity Matrix")) {
        for_each_cell(false, [&](auto i, auto k, auto const& row, auto const& word) { connect(i, k, row, word); });
      } else if (line.has("Matrix (GB/s)") || line.has("Matrix (us)")) {
        auto const table = table_of(line);
        for_each_cell(true, [&](auto i, auto k, auto const& row, auto const& word) { take(table, i, k, row, word); });
      }
    }
  }

 private:
  static std::string_view name_of(BenchmarkLine const& line) {
    auto const rest = value_after(line, "Device: 0,");
    return rest.substr(0, rest.find(','));
  }

  static MatrixKind table_of(BenchmarkLine const& title) {
    return {title.has("P2P=Enabled"), title.has("(P2P Reads)"), title.starts_with("Bidirectional"), title.has("(us)")};
  }

  // Calls `take` for every figure of the table below a title. Stops before the second table of latencies, which has the
  // CPU's time to submit, not the transfer's.
  template <class Take>
  void for_each_cell(bool numbers, Take take) {
    auto const title = at_++;
    while (at_ < lines_.size() && lines_[at_].empty()) ++at_;
    auto const columns = at_ < lines_.size() ? lines_[at_].words.size() : 0;
    if (columns < 2 || index_in(lines_[at_].words[0].text) || !index_in(lines_[at_].words[1].text))
      return builder_.fail(lines_[title].number, 1, "a line with the numbers of the columns must follow");
    std::size_t rows = 0;
    for (++at_; at_ < lines_.size() && !lines_[at_].empty(); ++at_, ++rows) {
      auto const& line = lines_[at_];
      auto const row = index_in(line.words[0].text);
      if (!row) break;
      if (*row != rows || line.words.size() != columns) {
        builder_.fail(line.number, line.words[0].column,
                      fmt::format("expected row {} with {} figures", rows, columns - 1));
        continue;
      }
      for (std::size_t k = 1; k < line.words.size(); ++k) take(*row, k - 1, line, line.words[k]);
    }
    if (rows != columns - 1 && numbers)
      builder_.fail(lines_[title].number, 1, fmt::format("expected {} rows, found {}", columns - 1, rows));
    --at_;
  }

  void connect(std::size_t i, std::size_t k, BenchmarkLine const& line, Word const& word) {
    if (word.text != "0" && word.text != "1")
      return builder_.fail(line.number, word.column, fmt::format("'{}': expected 0 or 1", word.text));
    if (i == k) return;
    bool const connected = word.text == "1";
    if (!connected) refused_.emplace_back(i, k);
    auto const from = builder_.gpu(i, line.number, word.column);
    auto const to = builder_.gpu(k, line.number, word.column);
    if (!from.empty() && !to.empty())
      builder_.add_fact({from, to}, builder_.direct(from, to), connected, line.number, word.column);
  }

  [[nodiscard]] bool refused(std::size_t i, std::size_t k) const {
    for (auto const& [a, b] : refused_)
      if (a == i && b == k) return true;
    return false;
  }

  void take(MatrixKind const& table, std::size_t i, std::size_t k, BenchmarkLine const& line, Word const& word) {
    auto const value = number_in(word.text);
    if (!value) return builder_.fail(line.number, word.column, fmt::format("'{}': expected a number", word.text));
    auto const row = builder_.gpu(i, line.number, word.column);
    auto const column = builder_.gpu(k, line.number, word.column);
    if (row.empty() || column.empty()) return;
    if (i == k) return take_local(table, row, *value, line, word);
    MeasuredFlow const flow = table.reads ? MeasuredFlow{column, row} : MeasuredFlow{row, column};
    MeasuredSeries like;
    like.quantity = table.latency ? MeasuredQuantity::Latency : MeasuredQuantity::Bandwidth;
    like.by_driver = !table.enabled || refused(i, k);
    like.mechanism = like.by_driver ? Mechanism::HostStaged : builder_.direct(flow.from, flow.to);
    like.pulled = table.reads && !like.by_driver;
    // Copies back to back, their total time divided; of latencies both ways, which the program does not measure, that
    // would say nothing.
    like.pipelined = table.latency && !like.by_driver && !table.both_ways;
    like.name = fmt::format("{}{}{}-{}", table.enabled ? "p2p-enabled" : "p2p-disabled", table.reads ? "-reads" : "",
                            table.both_ways ? "-both-ways" : "", table.latency ? "latency" : "bandwidth");
    if (table.enabled && like.by_driver)
      like.name += "-without-access";
    else if (like.mechanism == Mechanism::PcieP2p)
      like.name += "-pcie";
    std::vector<MeasuredFlow> flows{flow};
    if (table.both_ways) flows.push_back({flow.to, flow.from});
    builder_.add(like, std::move(flows), size_of(table), *value * (table.latency ? 1e-6 : 1e9), line.number,
                 word.column);
  }

  // Adds a copy inside one GPU. It is the same with and without peer access, so it is added once.
  void take_local(MatrixKind const& table, std::string const& gpu, double value, BenchmarkLine const& line,
                  Word const& word) {
    if (table.enabled || table.both_ways) return;
    MeasuredSeries like;
    like.name = table.latency ? "local-latency" : "local-bandwidth";
    like.quantity = table.latency ? MeasuredQuantity::Latency : MeasuredQuantity::Bandwidth;
    like.mechanism = Mechanism::Local;
    builder_.add(like, {{gpu, gpu}}, size_of(table), table.latency ? value * 1e-6 : value / 2 * 1e9, line.number,
                 word.column);
  }

  Bytes size_of(MatrixKind const& table) {
    if (table.latency) return names_direction_ ? kLatencyCopy : kOldLatencyCopy;
    return builder_.bytes_or(names_direction_ ? kCopy : kOldCopy);
  }

  BenchmarkBuilder& builder_;
  std::vector<BenchmarkLine> lines_;
  std::size_t at_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> refused_;
  bool names_direction_ = false;  // newer versions: tables of reads and of writes
};

}  // namespace

Measurement read_p2p_test(SourceText const& source, Machine const& machine, BenchmarkOptions const& options) {
  BenchmarkBuilder builder(source, machine, options, Benchmark::P2pTest);
  builder.method(
      "p2pBandwidthLatencyTest (CUDA samples): copies back to back in one stream, by copy engines; both ways the sum; "
      "latency as the GPU's clock sees it");
  P2pTestReader(source, builder).read();
  return builder.finish();
}

}  // namespace lanewise
