// Reads OSU micro-benchmarks: osu_bw, osu_bibw and osu_latency between two ranks. Their MB is 1e6 B.
#include <fmt/format.h>

#include "core/interop/benchmarks/benchmark_builder.hpp"

namespace lanewise {
namespace {

class OsuReader {
 public:
  OsuReader(SourceText const& source, Machine const& machine, BenchmarkBuilder& builder)
      : machine_(machine), builder_(builder), lines_(lines_of(source)), ends_(builder.ends()) {}

  void read() {
    for (auto const& line : lines_) {
      if (line.starts_with("# OSU"))
        read_title(line);
      else if (line.starts_with("# Send Buffer on"))
        check_buffers(line);
      else if (line.starts_with("# Size"))
        read_header(line);
      else if (table_ && !line.empty() && index_in(line.words[0].text))
        read_row(line);
    }
  }

 private:
  void read_title(BenchmarkLine const& line) {
    builder_.environment("osu", line.text.substr(2));
    // "# OSU MPI-CUDA Bi-Directional Bandwidth Test v7.3"; a collective's name stands between MPI and Latency.
    auto const word = [&](std::size_t i) { return i < line.words.size() ? line.words[i].text : std::string_view(); };
    bool const mpi = word(2).starts_with("MPI");
    both_ways_ = word(3) == "Bi-Directional";
    latency_ = mpi && word(3) == "Latency";
    known_ = latency_ || (mpi && word(both_ways_ ? 4 : 3) == "Bandwidth");
    table_ = false;
    if (!known_)
      builder_.fail(line.number, 1,
                    fmt::format("'{}' cannot be imported: osu_bw, osu_bibw and osu_latency can", line.text.substr(2)));
  }

  // "# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)"
  void check_buffers(BenchmarkLine const& line) {
    auto const receive = line.text.find("Receive");
    auto const check = [&](std::string_view part, std::string const& name, char const* option) {
      bool const device = part.find("DEVICE") != std::string_view::npos;
      auto const place = machine_.find_place(name);
      if (place && device != std::holds_alternative<PciId>(*place))
        builder_.fail(
            line.number, 1,
            fmt::format("this buffer is in {} memory, but {} {} is not", device ? "a GPU's" : "host", option, name));
    };
    if (receive == std::string_view::npos) return;
    check(line.text.substr(0, receive), ends_.from, "--from");
    check(line.text.substr(receive), ends_.to, "--to");
  }

  void read_header(BenchmarkLine const& line) {
    if (!known_) return builder_.fail(line.number, 1, "a table before any title such as '# OSU MPI Bandwidth Test'");
    table_ = true;
    if (latency_ ? !line.has("(us)") : !line.has("(MB/s)")) {
      builder_.fail(line.number, 1, latency_ ? "expected latencies in us" : "expected bandwidths in MB/s");
      table_ = false;
    }
  }

  void read_row(BenchmarkLine const& line) {
    auto const bytes = index_in(line.words[0].text);
    auto const value = line.words.size() > 1 ? number_in(line.words[1].text) : std::nullopt;
    if (!value) return builder_.fail(line.number, line.words[0].column, "expected a size and a figure");
    if (*bytes == 0) return;  // an empty message is no transfer
    MeasuredSeries like;
    like.quantity = latency_ ? MeasuredQuantity::Latency : MeasuredQuantity::Bandwidth;
    like.pipelined = !latency_ && !both_ways_;
    like.name = latency_ ? "latency" : both_ways_ ? "bandwidth-both-ways" : "bandwidth";
    std::vector<MeasuredFlow> flows{ends_};
    if (both_ways_) flows.push_back({ends_.to, ends_.from});
    builder_.add(like, std::move(flows), Bytes(static_cast<std::int64_t>(*bytes)), *value * (latency_ ? 1e-6 : 1e6),
                 line.number, line.words[1].column);
  }

  Machine const& machine_;
  BenchmarkBuilder& builder_;
  std::vector<BenchmarkLine> lines_;
  MeasuredFlow ends_;
  bool known_ = false, latency_ = false, both_ways_ = false, table_ = false;
};

}  // namespace

Measurement read_osu(SourceText const& source, Machine const& machine, BenchmarkOptions const& options) {
  BenchmarkBuilder builder(source, machine, options, Benchmark::Osu);
  builder.method("OSU micro-benchmarks over MPI: latency one way, bandwidth with a window of messages in flight");
  builder.note("MPI's own time for a message is in the figures and not in the model.");
  OsuReader(source, machine, builder).read();
  return builder.finish();
}

}  // namespace lanewise
