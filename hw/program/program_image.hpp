#pragma once
// Programs with the addresses of their memory, ready for a kernel. Every GPU has a flag for each task and for each
// GPU's arrival; a flag holds the number of the last run in which that came to pass.
#include <array>
#include <cstddef>
#include <vector>

#include "hw/program/device_program.hpp"
#include "hw/program/program_layout.hpp"

namespace lanewise::hw {

// Where things are: of each of the plan's buffers, and of each GPU's flags.
struct Addresses {
  std::vector<std::uint64_t> buffers;
  std::vector<std::uint64_t> flags;
};

struct ProgramImage {
  std::vector<std::byte> bytes;         // a multiple of 16
  std::vector<std::uint64_t> arrivals;  // flags on other GPUs that this one sets when it begins
};

std::size_t flag_count(DevicePrograms const& programs);
ProgramImage image_of(DevicePrograms const& programs, std::vector<Buffer> const& buffers, std::size_t gpu,
                      Addresses const& addresses);

}  // namespace lanewise::hw
