#include "core/interop/host/files/nvidia_smi.hpp"
#include "fuzz/host_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  return lanewise::fuzz_host(lanewise::read_nvidia_smi, lanewise::recognise_nvidia_smi, data, size);
}
