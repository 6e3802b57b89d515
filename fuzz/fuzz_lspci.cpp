#include "core/interop/host/files/lspci.hpp"
#include "fuzz/host_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  return lanewise::fuzz_host(lanewise::read_lspci, lanewise::recognise_lspci, data, size);
}
