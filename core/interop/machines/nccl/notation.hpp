#pragma once
// How NCCL's topology file writes addresses, ids, CPU families and core masks.
#include <optional>
#include <string>
#include <string_view>

namespace lanewise {

// Whether a text is a PCI address such as "0000:3b:00.0"; the domain has 4 to 8 digits.
bool is_bus_id(std::string_view text);

// "10de:20b0" from "0x10de" and "0x20b0"; empty when either is missing, or when the vendor is 0xffff (not known).
std::string pci_id(std::string_view vendor, std::string_view device);

// The CPU family as CPUID displays it. NCCL writes the base family plus the extended family shifted left by four: 0x8f
// stands for 0xf + 8 = 23. Files edited by hand hold the displayed family, which is returned as it is.
int displayed_family(int family);

constexpr std::size_t kMaxMaskedCores = 8192;  // the limit of CONFIG_NR_CPUS in Linux

// The cores of a mask of comma-separated 32-bit words, as a list in the kernel's form: "ff,0000ffff" is "0-15,32-39".
// nullopt when the text is no such mask, or has more than kMaxMaskedCores cores.
std::optional<std::string> core_list(std::string_view mask);

}  // namespace lanewise
