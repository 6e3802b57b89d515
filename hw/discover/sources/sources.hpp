#pragma once
// The sources, one in each file. A source fills its part of the facts and never throws: what is missing becomes a
// reason in its probe, or a note.
#include <memory>

#include "core/interop/host/facts.hpp"
#include "hw/discover/sources/sysfs.hpp"

namespace lanewise::hw {

void read_pci(Sysfs const& sysfs, HostFacts& facts);
void read_cpu(Sysfs const& sysfs, HostFacts& facts);
// `live`: the root is this machine's own, so the processor itself can be asked too.
void read_platform(Sysfs const& sysfs, bool live, HostFacts& facts);
void read_nics(Sysfs const& sysfs, HostFacts& facts);
void read_block_devices(Sysfs const& sysfs, HostFacts& facts);

NvmlFacts read_nvml();
VerbsFacts read_verbs();

// The CUDA driver. During its lifetime the GPUs that wake() reached stay awake: an idle GPU may have trained its PCIe
// link down to save power.
class CudaSource {
 public:
  CudaSource();
  CudaSource(CudaSource const&) = delete;
  CudaSource& operator=(CudaSource const&) = delete;
  ~CudaSource();

  void wake(std::vector<std::string>& notes);
  [[nodiscard]] CudaFacts read() const;

 private:
  struct Driver;
  std::unique_ptr<Driver> driver_;
};

}  // namespace lanewise::hw
