#pragma once
#include <functional>
#include <optional>

#include "core/interop/benchmarks/benchmark.hpp"

namespace lanewise {

// Reads a measurement file or the output of any known benchmark; `machine` is asked for only when it is a benchmark's.
// `tool`: which one; absent: by what the text looks like. Throws InputError when the text is neither, or has errors.
Measurement read_measured_input(SourceText const& source, std::function<Machine()> const& machine,
                                BenchmarkOptions const& options, std::optional<Benchmark> tool = {});

}  // namespace lanewise
