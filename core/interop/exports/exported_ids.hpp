#pragma once
// What exported PCI functions and processors say of themselves, where systems identify devices by number.
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/interop/exports/pci_layout.hpp"

namespace lanewise {

struct ExportedIds {
  std::uint32_t class_code = 0;  // "0x030200"
  std::string id;                // "10de:20b5"
};
// The part's first PCI id. A device of an unknown part has its maker's number and device ffff.
ExportedIds exported_ids(Machine const& machine, ExportedFunction const& function);

// The link of a function with its parent, as trained or as its ends would negotiate; of a port, that of what is below.
std::optional<PcieLink> exported_link(Machine const& machine, ExportedFunction const& function);

// The cores of every NUMA node; nodes without a list get one core each, at numbers that are free.
std::vector<std::set<int>> exported_cores(Machine const& machine);

// Numbers as bits of words of 32, the highest word first: "00000003,ffffffff", with `prefix` before each. Without any,
// one word of zeros.
std::string mask_text(std::set<int> const& numbers, std::string_view prefix);

// "GenuineIntel/6/106" in its three words.
struct CpuidWords {
  std::string vendor, family, model;
};
CpuidWords split_cpuid(std::string const& cpuid);

}  // namespace lanewise
