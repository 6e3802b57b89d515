#pragma once
// Programs with the addresses of their memory, ready for a kernel. Every GPU has one flag for each task and one for
// each GPU's arrival. A flag holds the number of the last run in which the task ended or the GPU arrived.
#include <array>
#include <cstddef>
#include <vector>

#include "hw/program/device_program.hpp"
#include "hw/program/program_layout.hpp"

namespace lanewise::hw {

// Device addresses of each of the plan's buffers and of each GPU's flags.
struct Addresses {
  std::vector<std::uint64_t> buffers;
  std::vector<std::uint64_t> flags;
};

struct ProgramImage {
  std::vector<std::byte> bytes;         // a multiple of 16
  std::vector<std::uint64_t> arrivals;  // addresses of flags on other GPUs that this one sets when it begins
};

// How many flags each GPU has.
std::size_t flag_count(DevicePrograms const& programs);
// The image of one GPU's program.
ProgramImage image_of(DevicePrograms const& programs, std::vector<Buffer> const& buffers, std::size_t gpu,
                      Addresses const& addresses);

}  // namespace lanewise::hw
