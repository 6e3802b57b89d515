#pragma once
// Options for what a benchmark's output does not say, shared by `import` and `judge`.
#include <CLI/CLI.hpp>
#include <string>

#include "core/interop/benchmarks/benchmark.hpp"

namespace lanewise::cli {

struct BenchmarkArguments {
  std::string machine;
  std::string gpus, numa, from, to, bytes;
  bool sendrecv = false;
  std::string collective;

  void add_to(CLI::App& command);
  // Throws InputError for a size or a list that cannot be read.
  [[nodiscard]] BenchmarkOptions parsed() const;
};

}  // namespace lanewise::cli
