#include "core/interop/host/files/rocm_topology.hpp"
#include "fuzz/host_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  return lanewise::fuzz_host(lanewise::read_rocm_topology, lanewise::recognise_rocm_topology, data, size);
}
