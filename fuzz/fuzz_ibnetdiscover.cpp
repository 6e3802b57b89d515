// Fuzzes the reader of ibnetdiscover's output, and the cluster made of it.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/interop/fabrics/fabric_cluster.hpp"
#include "lanewise/io/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  std::string const text(data, data + size);
  FabricCluster made;
  try {
    made = cluster_of(read_ibnetdiscover(SourceText::from_memory("fuzz.txt", text)), "fuzz", "hgx-h100", catalogue);
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
    return 0;
  }
  try {
    static_cast<void>(catalogue.machine_from(SourceText::from_memory("fuzz.yaml", made.yaml)));
  } catch (Error const& error) {
    throw std::logic_error(std::string("the cluster is refused by its own reader: ") + error.what() + "\n" + made.yaml);
  }
  return 0;
}
