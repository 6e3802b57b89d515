#pragma once
#include <string>
#include <vector>

namespace lanewise::hw {

// What the user names on this machine for a drive of the machine file: a folder, a file or a block device on it.
struct DrivePath {
  std::string drive;  // "nvme0"
  std::string path;
  friend bool operator==(DrivePath const&, DrivePath const&) = default;
};
using DrivePaths = std::vector<DrivePath>;

}  // namespace lanewise::hw
