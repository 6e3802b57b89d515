#include "fuzz/benchmark_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  return lanewise::fuzz_benchmark(lanewise::Benchmark::TransferBench, data, size);
}
