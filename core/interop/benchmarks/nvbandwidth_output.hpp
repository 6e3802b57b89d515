#pragma once
// What nvbandwidth prints, as tables of its tests; nvbandwidth.cpp says what they mean.
#include <optional>
#include <string>
#include <vector>

#include "core/interop/benchmarks/benchmark_builder.hpp"

namespace lanewise {

struct NvbandwidthCell {
  std::optional<double> value;  // absent: N/A
  int line = 0, column = 0;
};
struct NvbandwidthTest {
  std::string name;
  std::vector<std::vector<NvbandwidthCell>> rows;
  int line = 0;
};

// Reads the text or the JSON (-j) of nvbandwidth. Reports errors, and what the output says of its environment, to
// `builder`.
std::vector<NvbandwidthTest> read_nvbandwidth_tests(SourceText const& source, BenchmarkBuilder& builder);

}  // namespace lanewise
