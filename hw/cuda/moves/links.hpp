#pragma once
// The links between the GPUs of a plan: grants or revokes peer access as its steps need it, and wakes them before a
// run.
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "hw/cuda/devices/devices.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::hw {

class Links {
 public:
  // Throws PlanError where one step needs peer access between two GPUs and another needs it absent, MissingError where
  // the driver refuses.
  Links(std::vector<Step> const& steps, Devices& devices);

  // Grants and revokes what another plan has changed, sends traffic between every pair with peer access and waits until
  // it has arrived.
  void wake();

 private:
  void set_access();

  Devices& devices_;
  std::set<std::pair<Device, Device>> open_, closed_;
  std::map<Device, DeviceMemory> memory_;  // its content does not matter
};

}  // namespace lanewise::hw
