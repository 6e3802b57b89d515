#include "core/interop/benchmarks/benchmark.hpp"

#include "core/interop/benchmarks/benchmark_builder.hpp"

namespace lanewise {
namespace {

struct Tool {
  std::string_view name;
  std::string_view about;
  Measurement (*read)(SourceText const&, Machine const&, BenchmarkOptions const&);
  std::array<std::string_view, 3> marks;  // texts that only this tool prints
};

constexpr std::array<Tool, 7> kTools{
    {{"nvbandwidth",
      "NVIDIA's nvbandwidth: its text, or its JSON (-j)",
      read_nvbandwidth,
      {"nvbandwidth", "memcpy CE CPU(row)", "memcpy CE GPU(row)"}},
     {"p2p-test",
      "p2pBandwidthLatencyTest of the CUDA samples",
      read_p2p_test,
      {"P2P (Peer-to-Peer) GPU Bandwidth Latency Test", "P2P Connectivity Matrix", "P2P=Disabled"}},
     {"bandwidth-test",
      "bandwidthTest of the CUDA samples: its tables, or --csv",
      read_bandwidth_test,
      {"[CUDA Bandwidth Test]", "bandwidthTest-H2D", "bandwidthTest-D2"}},
     {"nccl-tests",
      "nccl-tests: collectives and sendrecv_perf",
      read_nccl_tests,
      {"\"average_bus_bandwidth\"", "# nThread", "busbw"}},
     {"perftest",
      "perftest (ib_write_bw, ib_read_bw, ib_send_lat, ...): its tables, or --out_json",
      read_perftest,
      {"#bytes", "\"test_info\"", "BW average"}},
     {"osu",
      "OSU micro-benchmarks: osu_bw, osu_bibw, osu_latency, and collectives of GPUs",
      read_osu,
      {"# OSU", "", ""}},
     {"transferbench",
      "TransferBench of AMD: p2p, a2a, and lists of transfers",
      read_transferbench,
      {"TransferBench v", "Executor: ", "All-To-All benchmark"}}}};

Tool const& tool_of(Benchmark benchmark) { return kTools.at(static_cast<std::size_t>(benchmark)); }

}  // namespace

std::string_view to_string(Benchmark benchmark) { return tool_of(benchmark).name; }
std::string_view describe(Benchmark benchmark) { return tool_of(benchmark).about; }

Measurement read_benchmark(Benchmark benchmark, SourceText const& source, Machine const& machine,
                           BenchmarkOptions const& options) {
  return tool_of(benchmark).read(source, machine, options);
}

std::optional<Benchmark> detect_benchmark(std::string_view text) {
  for (auto const benchmark : kBenchmarks)
    for (auto const mark : tool_of(benchmark).marks)
      if (!mark.empty() && text.find(mark) != std::string_view::npos) return benchmark;
  return std::nullopt;
}

}  // namespace lanewise
