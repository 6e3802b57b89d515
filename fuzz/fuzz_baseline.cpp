// Fuzzes the reader of earlier verdicts. The property: any text is such a file or a lanewise::Error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/verdict/baseline.hpp"
#include "lanewise/io/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  try {
    auto const source = SourceText::from_memory("fuzz.json", std::string(data, data + size));
    auto const baseline = read_baseline(source);
    static_cast<void>(compare_with(baseline, {}, {}));
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
    return 0;
  }
  return 0;
}
