#pragma once
// Unpacks a kernel's image on the host, because an emulated guest spends a quarter of its boot time on that (measured:
// two nodes take 20 s of processor time with a packed image, 15 s with an unpacked one).
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/kernel.hpp"

namespace lanewise::emulator {

// The compressed kernel inside an image, found by the setup header of Linux's x86 boot protocol; nullopt when the image
// has no such header.
std::optional<std::string_view> payload_of(std::string_view image);

// The version in an image's setup header ("6.1.0-56-amd64"); empty when it has none.
std::string version_of_image(std::string_view image);

// The program that unpacks a payload, known by its first bytes: xz, zstd or gzip; empty for any other.
std::string unpacker_of(std::string_view payload);

// Whether QEMU can start an unpacked kernel: it is an ELF file with the PVH entry point (Documentation/x86/boot).
bool can_be_started(std::string_view kernel);

// The unpacked image, which is made in the cache at the first call; the packed image where that does not work.
std::filesystem::path quickest_image(Kernel const& kernel);

}  // namespace lanewise::emulator
