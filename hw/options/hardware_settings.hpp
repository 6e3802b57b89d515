#pragma once
#include "hw/options/drive_paths.hpp"
#include "hw/options/repetition.hpp"

namespace lanewise::hw {

// What the user says of runs on hardware.
struct HardwareSettings {
  Repetition repetition;
  DrivePaths drives;
};

}  // namespace lanewise::hw
