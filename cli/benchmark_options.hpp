#pragma once
// What a benchmark's output leaves open, as options of the commands that read one.
#include <CLI/CLI.hpp>
#include <string>

#include "core/interop/benchmarks/benchmark.hpp"

namespace lanewise::cli {

struct BenchmarkArguments {
  std::string machine;
  std::string gpus, numa, from, to, bytes;
  bool sendrecv = false;

  void add_to(CLI::App& command);
  // Throws InputError for a size or a list that cannot be read.
  [[nodiscard]] BenchmarkOptions parsed() const;
};

}  // namespace lanewise::cli
