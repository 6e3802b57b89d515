// The RDMA devices that user programs can open. A device that the kernel has and libibverbs lacks has no provider
// installed.
#include "hw/discover/sources/library.hpp"
#include "hw/discover/sources/sources.hpp"

namespace lanewise::hw {

VerbsFacts read_verbs() {
  using Device = struct ibv_device;
  VerbsFacts facts;
  facts.probe.asked = true;
  Library const library("libibverbs.so.1");
  auto* const list = library.function<Device**(int*)>("ibv_get_device_list");
  auto* const name = library.function<char const*(Device*)>("ibv_get_device_name");
  auto* const release = library.function<void(Device**)>("ibv_free_device_list");
  if (list == nullptr || name == nullptr || release == nullptr) {
    facts.probe.reason = library.is_loaded() ? "libibverbs.so.1 is of another kind" : library.reason();
    return facts;
  }
  facts.probe.found = true;
  facts.dma_buf = library.function<void>("ibv_reg_dmabuf_mr") != nullptr;
  int count = 0;
  auto** const devices = list(&count);
  if (devices == nullptr) return facts;  // the kernel has no verbs
  for (int i = 0; i < count; ++i) facts.devices.emplace_back(name(devices[i]));
  release(devices);
  return facts;
}

}  // namespace lanewise::hw
