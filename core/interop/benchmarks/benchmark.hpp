#pragma once
// Reads the output of other people's benchmarks as measurements: figures, each with its places.
//
//   auto const measurement = read_benchmark(Benchmark::Nvbandwidth, source, machine, {});
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/measurement/measurement.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

enum class Benchmark : std::uint8_t { Nvbandwidth, P2pTest, BandwidthTest, NcclTests, Perftest, Osu, TransferBench };
inline constexpr std::array<Benchmark, 7> kBenchmarks{
    Benchmark::Nvbandwidth, Benchmark::P2pTest, Benchmark::BandwidthTest, Benchmark::NcclTests,
    Benchmark::Perftest,    Benchmark::Osu,     Benchmark::TransferBench};
// nvbandwidth, p2p-test, bandwidth-test, nccl-tests, perftest, osu, transferbench
std::string_view to_string(Benchmark benchmark);
std::string_view describe(Benchmark benchmark);  // a line for people

// What the output of a benchmark does not say.
struct BenchmarkOptions {
  std::string machine;                     // the machine's name in the measurement; empty: its own name
  std::vector<std::string> gpus;           // names of the tool's GPUs 0, 1, ...; empty: gpu0, gpu1, ...
  std::string numa;                        // host memory; empty: the NUMA node nearest the GPU
  std::string from, to;                    // of benchmarks between two ends
  std::optional<Bytes> bytes;              // of each transfer, where the tool does not print it
  bool sendrecv = false;                   // nccl-tests: it was sendrecv_perf, which the output need not say
  std::optional<CollectiveOp> collective;  // nccl-tests: what it was, which the output need not say either
};

// Throws InputError with line and column of what cannot be read, or naming the option that says what is missing.
Measurement read_benchmark(Benchmark benchmark, SourceText const& source, Machine const& machine,
                           BenchmarkOptions const& options);
// The benchmark whose output this looks like; nullopt for none.
std::optional<Benchmark> detect_benchmark(std::string_view text);

}  // namespace lanewise
