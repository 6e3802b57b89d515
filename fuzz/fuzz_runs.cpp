// Fuzzes the reader of recorded runs and their traces. The property: any text is such a file or a lanewise::Error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/io/json.hpp"
#include "core/verdict/recorded_run.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  try {
    auto const source = SourceText::from_memory("fuzz.json", std::string(data, data + size));
    for (auto const& run : read_recorded_runs(source)) static_cast<void>(to_json(run.trace));
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
    return 0;
  }
  return 0;
}
