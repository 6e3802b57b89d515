// Fuzzes the reader of NCCL topology files.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/interop/machines/nccl/topology.hpp"
#include "fuzz/reads_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  // Bundled parts, so that links and NVLinks meet the limits of real ones.
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  std::string const text(data, data + size);
  try {
    auto const source = SourceText::from_memory("fuzz.xml", text);
    check_reads_back(read_nccl_topology(source, catalogue), catalogue);
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
  }
  return 0;
}
