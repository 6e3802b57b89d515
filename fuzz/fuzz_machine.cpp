// Fuzzes the reader and the writer of machine and cluster files, with no parts but those in the file.
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/reads_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  static Catalogue catalogue({});
  std::string const text(data, data + size);
  try {
    auto const machine = catalogue.machine_from(SourceText::from_memory("fuzz.yaml", text));
    if (machine.hosts.size() == 1) check_reads_back(machine, catalogue);
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
  }
  return 0;
}
