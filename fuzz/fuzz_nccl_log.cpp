// Fuzzes the reader of logs of NCCL.
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/interop/machines/nccl/log/nccl_log.hpp"
#include "fuzz/named_parts_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  return fuzz_with_parts(read_nccl_log, std::string(data, data + size));
}
