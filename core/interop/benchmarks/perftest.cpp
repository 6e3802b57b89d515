// Reads perftest (ib_write_bw, ib_read_lat, ...), its tables and its --out_json. Its MB is 2^20 B, its Gb 1e9 bits.
// Latencies are one way for writes and sends, and whole round trips for reads (perftest_parameters.c).
#include <fmt/format.h>

#include <algorithm>

#include "core/interop/benchmarks/benchmark_builder.hpp"
#include "core/io/json.hpp"

namespace lanewise {
namespace {

struct PerftestRun {
  Op op = Op::Copy;
  bool latency = false;
  bool both_ways = false;
  int queue_pairs = 0;
};

// "RDMA_Write BW Test", "Send Bidirectional BW Test", "RDMA_Read Latency Test"
std::optional<PerftestRun> run_of(std::string_view title) {
  auto const has = [&](std::string_view part) { return title.find(part) != std::string_view::npos; };
  PerftestRun run;
  if (has("Write"))
    run.op = Op::Write;
  else if (has("Read"))
    run.op = Op::Read;
  else if (!has("Send"))
    return std::nullopt;
  run.latency = has("Latency");
  run.both_ways = has("Bidirectional");
  if (!run.latency && !has("BW")) return std::nullopt;
  return run;
}

class PerftestReader {
 public:
  PerftestReader(SourceText const& source, Machine const& machine, BenchmarkBuilder& builder)
      : source_(source), machine_(machine), builder_(builder), ends_(builder.ends()) {}

  void read_text() {
    for (auto const& line : lines_of(source_)) {
      if (line.text.ends_with(" Test"))
        read_title(line);
      else if (line.has("Number of qps"))
        read_queue_pairs(line);
      else if (line.starts_with("#bytes"))
        read_header(line);
      else if (line.has("Device"))
        read_device(line);
      else if (scale_ > 0 && !line.empty() && index_in(line.words[0].text))
        read_row(line);
    }
  }

  // {"test_info": {"test": "RDMA_Write BW Test", ...}, "results": {"MsgSize": 65536, "BW_average": 22900.1, ...}}
  void read_json() {
    auto const root = json_with_positions(source_);
    auto const* info = root.find("test_info");
    auto const* results = root.find("results");
    if (info == nullptr || results == nullptr)
      return builder_.fail(root.line, root.column, "expected {\"test_info\": {...}, \"results\": {...}}");
    auto const* test = info->find("test");
    run_ = test != nullptr ? run_of(test->text) : std::nullopt;
    if (!run_)
      return builder_.fail(info->line, info->column,
                           "\"test\" must say which test it was, such as \"RDMA_Write BW Test\"");
    if (auto const* qps = info->find("Number_of_qps"); qps != nullptr)
      run_->queue_pairs = static_cast<int>(std::min<std::size_t>(index_in(qps->text).value_or(0), 1 << 16));
    if (auto const* device = info->find("Device"); device != nullptr) builder_.environment("device", device->text);
    if (results->kind == YamlKind::Sequence)
      for (auto const& item : results->items) read_result(item);
    else
      read_result(*results);
  }

 private:
  void read_title(BenchmarkLine const& line) {
    run_ = run_of(line.text);
    scale_ = 0;
    if (!run_)
      builder_.fail(
          line.number, line.words[0].column,
          fmt::format("'{}' cannot be imported; ib_write_, ib_read_ and ib_send_ with _bw or _lat can", line.text));
  }

  void read_queue_pairs(BenchmarkLine const& line) {
    for (auto const& word : line.words)
      if (auto const count = index_in(word.text); count && run_) {
        run_->queue_pairs = static_cast<int>(std::min<std::size_t>(*count, 1 << 16));
        return;
      }
  }

  void read_device(BenchmarkLine const& line) {
    for (std::size_t i = 0; i + 2 < line.words.size(); ++i)
      if (line.words[i].text == "Device" && line.words[i + 1].text == ":")
        builder_.environment("device", line.words[i + 2].text);
  }

  void read_header(BenchmarkLine const& line) {
    if (!run_)
      return builder_.fail(line.number, line.words[0].column, "a table before any title such as 'RDMA_Write BW Test'");
    if (line.has("[cycles]"))
      return builder_.fail(line.number, line.words[0].column, "cycles are no time; run it without -C");
    scale_ = run_->latency ? 1e-6 : line.has("[Gb/sec]") ? 1e9 / 8 : 1048576;
    if (!run_->latency && !line.has("BW average")) scale_ = 0;
    typical_ = line.has("t_typical");
  }

  void read_row(BenchmarkLine const& line) {
    // #bytes #iterations peak average rate; #bytes #iterations t_min t_max t_typical t_avg ...
    auto const column = !run_->latency ? 3U : typical_ ? 4U : 2U;
    if (line.words.size() <= column) return builder_.fail(line.number, line.words[0].column, "this row is cut off");
    add(line.words[0].text, line.words[column].text, scale_, line.number, line.words[column].column);
  }

  void read_result(YamlNode const& item) {
    auto const* size = item.find("MsgSize");
    auto const* value = run_->latency ? item.find("t_typical") : item.find("BW_average");
    if (size == nullptr || value == nullptr)
      return builder_.fail(
          item.line, item.column,
          fmt::format("\"MsgSize\" and \"{}\" must be there", run_->latency ? "t_typical" : "BW_average"));
    if (!run_->latency)
      builder_.note("perftest's JSON does not say its unit; MiB/s is taken, as it prints without --report_gbits.");
    add(size->text, value->text, run_->latency ? 1e-6 : 1048576, value->line, value->column);
  }

  void add(std::string_view size, std::string_view figure, double scale, int line, int column) {
    auto const bytes = index_in(size);
    auto const value = number_in(figure);
    if (!bytes || *bytes == 0 || !value)
      return builder_.fail(line, column, fmt::format("'{}' of {} bytes: expected a figure of a size", figure, size));
    MeasuredSeries like;
    like.quantity = run_->latency ? MeasuredQuantity::Latency : MeasuredQuantity::Bandwidth;
    like.op = run_->latency && run_->op == Op::Write ? Op::Copy : run_->op;  // timed by the CPU, with its own start
    like.queue_pairs = run_->queue_pairs;
    like.pipelined = !run_->latency && !run_->both_ways;
    bool const gpu = at_gpu(ends_.from) || at_gpu(ends_.to);
    like.mechanism = gpu ? Mechanism::Gdr : Mechanism::Rdma;
    like.name = fmt::format("{}-{}{}",
                            run_->op == Op::Write  ? "write"
                            : run_->op == Op::Read ? "read"
                                                   : "send",
                            run_->both_ways ? "both-ways-" : "", run_->latency ? "latency" : "bandwidth");
    std::vector<MeasuredFlow> flows{ends_};
    if (run_->both_ways) flows.push_back({ends_.to, ends_.from});
    builder_.add(like, std::move(flows), Bytes(static_cast<std::int64_t>(*bytes)), *value * scale, line, column);
  }

  [[nodiscard]] bool at_gpu(std::string const& name) const {
    auto const place = machine_.find_place(name);
    return place && std::holds_alternative<PciId>(*place) && machine_.at(std::get<PciId>(*place)).kind == PciKind::Gpu;
  }

  SourceText const& source_;
  Machine const& machine_;
  BenchmarkBuilder& builder_;
  MeasuredFlow ends_;
  std::optional<PerftestRun> run_;
  double scale_ = 0;  // of the figures of the table; 0: no table
  bool typical_ = true;
};

}  // namespace

Measurement read_perftest(SourceText const& source, Machine const& machine, BenchmarkOptions const& options) {
  BenchmarkBuilder builder(source, machine, options, Benchmark::Perftest);
  builder.method("perftest: bandwidth is the average of many in flight, latency the median (t_typical)");
  PerftestReader reader(source, machine, builder);
  if (is_json(source))
    reader.read_json();
  else
    reader.read_text();
  return builder.finish();
}

}  // namespace lanewise
