#pragma once
// The GPUs of a machine description on this machine: which is which, and which pairs have peer access.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/runtime/handles.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::hw {

class Devices {
 public:
  // Matches GPUs by PCI address where the description has one, else in the order of PCI addresses. Throws MissingError
  // when there is no driver, no GPU, too few GPUs, or one cannot be used (exclusive mode), InputError when a GPU is
  // another part than the description says. `first`: how many of this machine's GPUs come before the description's, in
  // that order.
  explicit Devices(Machine machine, int first = 0);
  // Maps all GPUs of the description to one device: the result of a plan can be checked on one GPU, though not its
  // time.
  Devices(Machine machine, Device all);

  [[nodiscard]] Machine const& machine() const { return machine_; }
  // The device of a GPU. Throws PlanError for another kind of place.
  [[nodiscard]] Device of(Place const& place) const;
  [[nodiscard]] std::vector<Device> const& all() const { return all_; }
  [[nodiscard]] KernelShape shape(Device device) const { return {multiprocessors_.at(device)}; }
  // What a measured figure may depend on: GPU names, driver, runtime.
  [[nodiscard]] std::map<std::string, std::string> environment() const;

  // Gives `device` access to the memory of `peer`, or revokes it; does nothing where it is so already. Throws
  // MissingError when the driver refuses.
  void enable_peer_access(Device device, Device peer);
  void disable_peer_access(Device device, Device peer);

 private:
  void match(PciId gpu, Device device);

  Machine machine_;
  std::map<PciId, Device> devices_;
  std::vector<Device> all_;
  std::map<Device, int> multiprocessors_;
  std::set<std::string> names_;  // of the GPUs, as the driver has them
  std::set<std::pair<Device, Device>> reachable_;
};

// The devices that this process sees, in the order of their PCI addresses.
std::vector<Device> devices_by_address();

// How many CUDA devices there are, and why there are none.
struct DeviceCount {
  int count = 0;
  std::string reason;  // empty where there are some
};
DeviceCount count_devices();

}  // namespace lanewise::hw
