// Fuzzes the reader and the writer of roles files. The property: any text is a list of roles or a lanewise::Error, and
// roles read back equal.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/interop/machines/roles.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  RolesFile roles;
  try {
    roles = read_roles(SourceText::from_memory("fuzz.yaml", std::string(data, data + size)));
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
    return 0;
  }
  if (read_roles(SourceText::from_memory("again.yaml", write_roles(roles))) != roles) std::abort();
  return 0;
}
