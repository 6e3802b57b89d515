// Reads OSU micro-benchmarks: osu_bw, osu_bibw and osu_latency between two ranks, and collectives of GPU buffers. Their
// MB is 1e6 B.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/interop/benchmarks/benchmark_builder.hpp"

namespace lanewise {
namespace {

// Collectives as their titles say them, and whether the size is one rank's part of what nccl-tests calls the size.
struct OsuCollective {
  std::string_view title;
  CollectiveOp op;
  bool is_of_a_part;
};
constexpr std::array<OsuCollective, 8> kCollectives{
    {{"Allreduce", CollectiveOp::AllReduce, false},
     {"Allgather", CollectiveOp::AllGather, true},
     {"Reduce_scatter", CollectiveOp::ReduceScatter, false},
     {"Reduce", CollectiveOp::Reduce, false},
     {"Broadcast", CollectiveOp::Broadcast, false},
     {"Gather", CollectiveOp::Gather, true},
     {"Scatter", CollectiveOp::Scatter, true},
     {"All-to-All Personalized Exchange", CollectiveOp::AllToAll, true}}};

class OsuReader {
 public:
  OsuReader(SourceText const& source, Machine const& machine, BenchmarkOptions const& options,
            BenchmarkBuilder& builder)
      : machine_(machine), options_(options), builder_(builder), lines_(lines_of(source)) {}

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
    collective_.reset();
    known_ = latency_ || (mpi && word(both_ways_ ? 4 : 3) == "Bandwidth");
    table_ = false;
    if (known_) {
      if (!ends_) ends_ = builder_.ends();
      return;
    }
    read_collective(line, word(2));
    if (!known_)
      builder_.fail(
          line.number, 1,
          fmt::format("'{}' cannot be imported: osu_bw, osu_bibw, osu_latency, osu_allreduce, osu_allgather, "
                      "osu_reduce_scatter, osu_reduce, osu_bcast, osu_gather, osu_scatter and osu_alltoall can",
                      line.text.substr(2)));
  }

  // "# OSU MPI-CUDA Allreduce Latency Test v7.3"; OMB-X has NCCL or RCCL in the place of MPI.
  void read_collective(BenchmarkLine const& line, std::string_view by) {
    for (auto const& one : kCollectives)
      if (line.has(fmt::format(" {} Latency", one.title))) collective_ = one;
    known_ = collective_.has_value();
    if (!known_) return;
    if (by == "MPI") {
      builder_.fail(
          line.number, 1,
          "these buffers are in host memory, and collectives of GPUs are known: run it with -d cuda or -d rocm");
      known_ = false;
      return;
    }
    library_ = by.starts_with("NCCL")   ? Library{}
               : by.starts_with("RCCL") ? Library{.kind = LibraryKind::Rccl}
                                        : Library{.kind = LibraryKind::Mpi};
    builder_.note("OSU does not print how many ranks took part: all GPUs of the machine are taken, or those of --gpus");
  }

  // Of rank 0, 1, ...
  [[nodiscard]] std::vector<std::string> ranks() const {
    if (!options_.gpus.empty()) return options_.gpus;
    std::vector<std::string> all;
    for (auto const gpu : machine_.all(PciKind::Gpu)) all.push_back(machine_.at(gpu).name);
    return all;
  }

  void add_collective(BenchmarkLine const& line, std::size_t bytes, double value) {
    MeasuredSeries like;
    like.quantity = MeasuredQuantity::Makespan;
    like.name = to_string(collective_->op);
    like.collective = MeasuredCollective{collective_->op, ranks(), library_, CollectiveFigure::Time};
    auto const parts = collective_->is_of_a_part ? like.collective->among.size() : std::size_t{1};
    builder_.add_collective(like, Bytes(static_cast<std::int64_t>(bytes * parts)), value * 1e-6, line.number,
                            line.words[1].column);
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
    if (receive == std::string_view::npos || !ends_) return;
    check(line.text.substr(0, receive), ends_->from, "--from");
    check(line.text.substr(receive), ends_->to, "--to");
  }

  void read_header(BenchmarkLine const& line) {
    if (!known_) return builder_.fail(line.number, 1, "a table before any title such as '# OSU MPI Bandwidth Test'");
    table_ = true;
    bool const times = latency_ || collective_;
    if (!line.has(times ? "(us)" : "(MB/s)")) {
      builder_.fail(line.number, 1, times ? "expected latencies in us" : "expected bandwidths in MB/s");
      table_ = false;
    }
  }

  void read_row(BenchmarkLine const& line) {
    auto const bytes = index_in(line.words[0].text);
    auto const value = line.words.size() > 1 ? number_in(line.words[1].text) : std::nullopt;
    if (!value) return builder_.fail(line.number, line.words[0].column, "expected a size and a figure");
    if (*bytes == 0) return;  // an empty message is no transfer
    if (collective_) return add_collective(line, *bytes, *value);
    MeasuredSeries like;
    like.quantity = latency_ ? MeasuredQuantity::Latency : MeasuredQuantity::Bandwidth;
    like.pipelined = !latency_ && !both_ways_;
    like.name = latency_ ? "latency" : both_ways_ ? "bandwidth-both-ways" : "bandwidth";
    std::vector<MeasuredFlow> flows{*ends_};
    if (both_ways_) flows.push_back({ends_->to, ends_->from});
    builder_.add(like, std::move(flows), Bytes(static_cast<std::int64_t>(*bytes)), *value * (latency_ ? 1e-6 : 1e6),
                 line.number, line.words[1].column);
  }

  Machine const& machine_;
  BenchmarkOptions const& options_;
  BenchmarkBuilder& builder_;
  std::vector<BenchmarkLine> lines_;
  std::optional<MeasuredFlow> ends_;  // of what is between two ranks
  std::optional<OsuCollective> collective_;
  Library library_;
  bool known_ = false, latency_ = false, both_ways_ = false, table_ = false;
};

}  // namespace

Measurement read_osu(SourceText const& source, Machine const& machine, BenchmarkOptions const& options) {
  BenchmarkBuilder builder(source, machine, options, Benchmark::Osu);
  builder.method(
      "OSU micro-benchmarks over MPI: latency one way, bandwidth with a window of messages in flight, of collectives "
      "the mean time over ranks");
  builder.note("MPI's own time for a message is in the figures and not in the model.");
  OsuReader(source, machine, options, builder).read();
  return builder.finish();
}

}  // namespace lanewise
