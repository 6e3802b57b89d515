// Fuzzes the reader of tables of nvidia-smi topo -m.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/interop/machines/topo_m.hpp"
#include "fuzz/named_parts_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  std::string const text(data, data + size);
  return fuzz_with_parts(read_topo_m, without_terminal_codes(text));
}
