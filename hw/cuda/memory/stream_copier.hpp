#pragma once
#include <cstddef>
#include <memory>

#include "hw/cuda/runtime/handles.hpp"
#include "hw/memory/memory.hpp"

namespace lanewise::hw {

// Copies and adds chunks of a GPU's memory in a stream. Made by one thread at a time; then it may be used by another.
std::unique_ptr<Copier> make_stream_copier(Device device, std::byte* memory);

}  // namespace lanewise::hw
