// Reads nccl-tests. A measurement holds transfers between places, so only sendrecv_perf can be read: every rank sends
// to the next and receives from the one before, all at the same time. Collectives are refused by name.
#include <fmt/format.h>

#include <algorithm>

#include "core/interop/benchmarks/benchmark_builder.hpp"

namespace lanewise {
namespace {

// For smaller messages, NCCL's time for a call and its protocols make up much of a figure.
constexpr Bytes kLargeMessage{std::int64_t{16} << 20};
constexpr std::array<std::string_view, 9> kCollectives{
    "all_reduce", "all_gather", "broadcast", "reduce_scatter", "reduce", "alltoall", "scatter", "gather", "hypercube"};

struct Rank {
  std::string host;
  std::size_t device = 0;
};

class NcclTestsReader {
 public:
  NcclTestsReader(SourceText const& source, BenchmarkBuilder& builder, BenchmarkOptions const& options)
      : builder_(builder), lines_(lines_of(source)), is_sendrecv_(options.sendrecv) {}

  void read() {
    for (auto const& line : lines_) {
      if (line.has("sendrecv_perf")) is_sendrecv_ = true;
      refuse_collective(line);
      if (line.starts_with("#"))
        read_comment(line);
      else if (line.words.size() >= 8 && index_in(line.words[0].text) && index_in(line.words[1].text))
        read_row(line);
      if (refused_) return;
    }
  }

 private:
  void refuse(BenchmarkLine const& line, int column, std::string const& what) {
    if (!refused_)
      builder_.fail(
          line.number, column,
          fmt::format("{}; a measurement holds transfers between places, and of nccl-tests only sendrecv_perf is "
                      "that",
                      what));
    refused_ = true;
  }

  void refuse_collective(BenchmarkLine const& line) {
    for (auto const name : kCollectives)
      if (auto const at = line.text.find(fmt::format("{}_perf", name)); at != std::string_view::npos)
        return refuse(line, static_cast<int>(at) + 1, fmt::format("this is the collective {}", name));
  }

  // "#  Rank  0 Group  0 Pid  77 on  node1 device  0 [0000:07:00] NVIDIA H100 80GB HBM3"
  void read_comment(BenchmarkLine const& line) {
    auto const& words = line.words;
    if (line.has("NCCL version")) builder_.environment("nccl", line.text.substr(1));
    if (words.size() < 4 || words[1].text != "Rank") return;
    Rank rank;
    for (std::size_t i = 2; i + 1 < words.size(); ++i) {
      if (words[i].text == "on") rank.host = words[i + 1].text;
      if (words[i].text != "device") continue;
      auto const device = index_in(words[i + 1].text);
      if (!device) return builder_.fail(line.number, words[i + 1].column, "expected the number of a device");
      rank.device = *device;
    }
    ranks_.push_back(std::move(rank));
  }

  // size count type redop root, then time algbw busbw #wrong out of place, and again in place
  void read_row(BenchmarkLine const& line) {
    auto const& words = line.words;
    auto const root =
        std::find_if(words.begin() + 2, words.end(), [](auto const& w) { return number_in(w.text).has_value(); });
    auto const at = static_cast<std::size_t>(root - words.begin());
    for (auto const* reduction : {"sum", "prod", "min", "max", "avg", "all", "mulsum"})
      for (std::size_t i = 2; i < at; ++i)
        if (words[i].text == reduction)
          return refuse(line, words[i].column, fmt::format("a reduction ({}) is no sendrecv_perf", reduction));
    if (at + 1 >= words.size()) return builder_.fail(line.number, words[0].column, "this row is cut off");
    if (root->text != "-1" && root->text != "0" && !root->text.empty() && index_in(root->text))
      return refuse(line, root->column, "a collective with a root is no sendrecv_perf");
    if (!is_sendrecv_)
      return refuse(line, words[0].column,
                    "nothing here says which test it was (--sendrecv takes it for sendrecv_perf)");
    if (ranks_.size() < 2)
      return builder_.fail(line.number, words[0].column, "the lines '# Rank N ... device D' must come first");
    auto const& time = *(root + 1);
    auto const value = number_in(time.text);
    auto const bytes = *index_in(words[0].text);
    if (!value) return builder_.fail(line.number, time.column, fmt::format("'{}': expected a time", time.text));
    if (bytes > 0) add(Bytes(static_cast<std::int64_t>(bytes)), *value * 1e-6, line, time.column);
  }

  void add(Bytes bytes, double value, BenchmarkLine const& line, int column) {
    std::vector<MeasuredFlow> flows;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      flows.push_back({place(ranks_[i], line, column), place(ranks_[(i + 1) % ranks_.size()], line, column)});
    MeasuredSeries like;
    like.quantity = MeasuredQuantity::Makespan;
    like.op = Op::Write;
    like.name = bytes < kLargeMessage ? "sendrecv-small" : "sendrecv";
    if (bytes < kLargeMessage) like.doubtful = "NCCL's own time for a call is much of it, which is not modelled";
    builder_.add(like, std::move(flows), bytes, value, line.number, column);
  }

  std::string place(Rank const& rank, BenchmarkLine const& line, int column) {
    std::vector<std::string> hosts;
    for (auto const& known : ranks_)
      if (std::find(hosts.begin(), hosts.end(), known.host) == hosts.end()) hosts.push_back(known.host);
    auto const node = static_cast<std::size_t>(std::find(hosts.begin(), hosts.end(), rank.host) - hosts.begin());
    return builder_.gpu(rank.device, line.number, column, hosts.size() > 1 ? std::optional(node) : std::nullopt);
  }

  BenchmarkBuilder& builder_;
  std::vector<BenchmarkLine> lines_;
  bool is_sendrecv_ = false;
  bool refused_ = false;
  std::vector<Rank> ranks_;
};

}  // namespace

Measurement read_nccl_tests(SourceText const& source, Machine const& machine, BenchmarkOptions const& options) {
  BenchmarkBuilder builder(source, machine, options, Benchmark::NcclTests);
  builder.method("nccl-tests, sendrecv_perf: every rank sends to the next, all at once; out of place");
  NcclTestsReader(source, builder, options).read();
  return builder.finish();
}

}  // namespace lanewise
