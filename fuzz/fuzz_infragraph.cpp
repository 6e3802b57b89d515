// Fuzzes the reader of Infrastructures of InfraGraph.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/interop/machines/infragraph/infragraph.hpp"
#include "fuzz/named_parts_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  return fuzz_with_parts(read_infragraph, std::string(data, data + size));
}
