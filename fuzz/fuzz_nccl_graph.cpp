// Fuzzes the reader of NCCL's graph files, and their comparison with a machine.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/interop/machines/nccl/graph.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/catalogue.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  static Machine const machine = catalogue.machine("dgx-1-v100");
  std::string const text(data, data + size);
  try {
    compare_nccl_graph(SourceText::from_memory("fuzz.xml", text), machine);
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
  }
  return 0;
}
