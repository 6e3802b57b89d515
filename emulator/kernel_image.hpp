#pragma once
// A kernel's image unpacked on the host: under plain emulation a guest spends a quarter of its boot on that (measured:
// two nodes take 20 s of processor time with, 15 s without).
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/kernel.hpp"

namespace lanewise::emulator {

// The compressed kernel inside an image, by the setup header of Linux's x86 boot protocol; nullopt when it is none.
std::optional<std::string_view> payload_of(std::string_view image);

// The program that unpacks a payload, told by its first bytes: xz, zstd, gzip; empty for another.
std::string unpacker_of(std::string_view payload);

// Whether QEMU can start an unpacked kernel: an ELF file with the entry point for it (Documentation/x86/boot: PVH).
bool can_be_started(std::string_view kernel);

// The unpacked image, made in the cache when it is not there yet; the image itself where that cannot be done.
std::filesystem::path quickest_image(Kernel const& kernel);

}  // namespace lanewise::emulator
