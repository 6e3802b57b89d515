#pragma once
// The links that a plan's steps use: peer access granted or taken away as they need it, and woken before a run.
#include <map>
#include <utility>
#include <vector>

#include "hw/cuda/moves/move.hpp"

namespace lanewise::hw {

class Links {
 public:
  // Throws PlanError where two steps need one pair in two ways, MissingError where the driver refuses.
  Links(std::vector<Step> const& steps, Devices& devices);

  // Passes traffic between every pair with peer access, and waits for it.
  void wake() const;

 private:
  std::vector<std::pair<Device, Device>> open_;
  std::map<Device, DeviceMemory> memory_;  // what is in it does not matter
};

}  // namespace lanewise::hw
