#pragma once
// What nccl-tests and rccl-tests print, as tables; nccl_tests.cpp says what they mean.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/interop/benchmarks/benchmark_builder.hpp"

namespace lanewise {

// What a program of nccl-tests measures. Absent op: sendrecv_perf, or a collective that is not judged.
struct NcclTestsProgram {
  std::string_view name;  // without "_perf"
  std::optional<CollectiveOp> op;
  [[nodiscard]] bool is_sendrecv() const { return name == "sendrecv"; }
};
// nullptr: there is none of this name.
NcclTestsProgram const* nccl_tests_program(std::string_view name);

struct NcclTestsRank {
  std::string host;
  std::size_t device = 0;
  std::string product;  // of its GPU; empty where it is not printed
  int line = 0, column = 0;
};

// One row: what both forms of the output have.
struct NcclTestsRow {
  std::size_t bytes = 0;                 // more than 0
  std::string redop;                     // empty: none
  std::optional<int> root;               // -1: none
  double time_us = 0;                    // this and the next out of place where that was measured, else in place
  std::optional<double> bus, algorithm;  // GB/s
  std::optional<double> in_place_us;     // where out of place was measured too
  int line = 0, column = 0;
};

// The rows between two comments, and what was said before the second.
struct NcclTestsTable {
  NcclTestsProgram const* program = nullptr;  // nullptr: not said
  std::vector<NcclTestsRank> ranks;           // as listed: perhaps not all
  std::vector<NcclTestsRow> rows;
  Library library;
  bool version_known = false;
  std::map<std::string, std::string> variables;  // of NCCL that have an effect
};

// Reads the text or the JSON (-J). `program` is what the command line says it was; nullptr: what the output says.
// Reports errors, and what the output says of its environment, to `builder`.
std::vector<NcclTestsTable> read_nccl_tests_tables(SourceText const& source, BenchmarkBuilder& builder,
                                                   NcclTestsProgram const* program);

}  // namespace lanewise
