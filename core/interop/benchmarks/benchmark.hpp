#pragma once
// What benchmarks of others print, as measurements: figures with the places they are of.
//
//   auto const measurement = read_benchmark(Benchmark::Nvbandwidth, source, machine, {});
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/measurement/measurement.hpp"

namespace lanewise {

enum class Benchmark : std::uint8_t { Nvbandwidth, P2pTest, BandwidthTest, NcclTests, Perftest, Osu };
inline constexpr std::array<Benchmark, 6> kBenchmarks{Benchmark::Nvbandwidth,   Benchmark::P2pTest,
                                                      Benchmark::BandwidthTest, Benchmark::NcclTests,
                                                      Benchmark::Perftest,      Benchmark::Osu};
std::string_view to_string(Benchmark benchmark);  // nvbandwidth, p2p-test, bandwidth-test, nccl-tests, perftest, osu
std::string_view describe(Benchmark benchmark);   // what it is, for people

// What the output does not say.
struct BenchmarkOptions {
  std::string machine;            // how the measurement names the machine; empty: by its own name
  std::vector<std::string> gpus;  // the tool's GPUs 0, 1, ...; empty: gpu0, gpu1, ...
  std::string numa;               // host memory; empty: the NUMA node nearest the GPU
  std::string from, to;           // of benchmarks between two ends
  std::optional<Bytes> bytes;     // of each transfer, where the tool does not print it
  bool sendrecv = false;          // nccl-tests: it was sendrecv_perf, which the output need not say
};

// Throws InputError with line and column of what cannot be understood, and naming the option that would say what is
// missing.
Measurement read_benchmark(Benchmark benchmark, SourceText const& source, Machine const& machine,
                           BenchmarkOptions const& options);
// Whose output it looks like.
std::optional<Benchmark> detect_benchmark(std::string_view text);

}  // namespace lanewise
