#pragma once
// The names that lspci prints where it was not asked for numbers (-nn).
#include <cstdint>
#include <string>
#include <string_view>

namespace lanewise {

// The class of its name: 0x030200 for "3D controller". 0: not one that matters here.
std::uint32_t pci_class_of(std::string_view name);

// "10de:20b0" of "NVIDIA Corporation GA100 [A100 SXM4 40GB]", also of "NVIDIA Corporation Device 20b0"; "10de:" where
// only the vendor is known; "" where not even that.
std::string pci_id_of(std::string_view name);

}  // namespace lanewise
