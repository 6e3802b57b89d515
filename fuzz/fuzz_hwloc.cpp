#include "core/interop/host/files/hwloc.hpp"
#include "fuzz/host_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  return lanewise::fuzz_host(lanewise::read_hwloc, lanewise::recognise_hwloc, data, size);
}
