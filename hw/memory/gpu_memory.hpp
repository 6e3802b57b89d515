#pragma once
// Memory that GPUs have or copy. hw/cuda makes it; without_cuda.cpp says what is missing in a build without CUDA.
#include <memory>
#include <string>

#include "hw/memory/memory.hpp"

namespace lanewise::hw {

// Memory of a GPU, by its PCI address or, where that is empty, by its number. Throws MissingError when this build has
// no CUDA, or this machine no such GPU.
std::unique_ptr<Memory> make_gpu_memory(std::string const& bdf, int gpu, Bytes bytes);
// Host memory that GPUs copy. Throws MissingError likewise.
std::unique_ptr<Memory> make_pinned_memory(Bytes bytes, NumaIndex numa);

// How many GPUs this process sees.
int visible_gpus();
// The GPU, by its number, that stands for all of this process where a call to CUDA needs one, such as pinning memory.
// Throws likewise.
void choose_gpu(int gpu);

}  // namespace lanewise::hw
