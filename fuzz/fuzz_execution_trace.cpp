// Fuzzes the reader of execution traces. The property: any bytes are one, whose messages can be listed, or an
// InputError.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "core/workload/chakra/trace_reader.hpp"
#include "core/workload/trace_traffic.hpp"
#include "lanewise/io/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  std::istringstream stream(std::string(data, data + size));
  try {
    TracedStep step;
    step.ranks = 4;
    step.one_for_all = true;
    step.groups = {{"1", {0, 1}}, {"2", {2, 3}}};
    step.trace = read_execution_trace(stream, "fuzz");
    auto const traffic = traffic_of_trace(step);
    std::vector<PatternTime> times;
    for (auto const& pattern : traffic.patterns)
      times.push_back({.pattern = pattern, .reach = {}, .each = Seconds(1e-6)});
    static_cast<void>(compose_traced_step(step, times));
  } catch (InputError const&) {  // any bytes may be wrong; only an InputError may say so
  }
  return 0;
}
