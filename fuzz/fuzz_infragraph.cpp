// Fuzzes the reader of Infrastructures of InfraGraph.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/interop/machines/infragraph/infragraph.hpp"
#include "fuzz/reads_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  static TopoOptions const named{.gpu = "a100-sxm4-80g", .cpu = "epyc-zen3", .nic = "connectx-6-hdr"};
  std::string const text(data, data + size);
  try {
    auto const source = SourceText::from_memory("fuzz.yaml", text);
    check_reads_back(read_infragraph(source, {}, catalogue), catalogue);
    check_reads_back(read_infragraph(source, named, catalogue), catalogue);
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
  }
  return 0;
}
