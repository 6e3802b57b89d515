#include "core/interop/benchmarks/measured_input.hpp"

#include <fmt/format.h>

#include "lanewise/io/error.hpp"

namespace lanewise {

Measurement read_measured_input(SourceText const& source, std::function<Machine()> const& machine,
                                BenchmarkOptions const& options, std::optional<Benchmark> tool) {
  if (tool) return read_benchmark(*tool, source, machine(), options);
  auto const& text = source.text();
  // A measurement file may quote what a benchmark prints, so its own mark decides.
  tool = detect_benchmark(text);
  if (tool && text.find("measurement/1") == std::string::npos) return read_benchmark(*tool, source, machine(), options);
  if (text.find("lanewise") != std::string::npos) return read_measurement(source);
  std::string tools;
  for (auto const known : kBenchmarks) tools += fmt::format("\n  {}", describe(known));
  throw InputError(
      fmt::format("{}: neither a measurement file nor the output of a known benchmark:{}", source.name(), tools));
}

}  // namespace lanewise
