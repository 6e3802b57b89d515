#pragma once
// Shared by the targets of benchmark readers. The property: any text gives a measurement that reads back equal, or a
// lanewise::Error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/interop/benchmarks/benchmark.hpp"
#include "fuzz/reads_back.hpp"

namespace lanewise {

inline int fuzz_benchmark(Benchmark tool, std::uint8_t const* data, std::size_t size) {
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  static Machine const machine = catalogue.machine("hgx-h100");
  static BenchmarkOptions const options{
      .machine = "", .gpus = {}, .numa = "", .from = "gpu0", .to = "gpu1", .bytes = {}};
  try {
    auto const source = SourceText::from_memory("fuzz.txt", std::string(data, data + size));
    check_reads_back(read_benchmark(tool, source, machine, options));
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
  }
  return 0;
}

}  // namespace lanewise
