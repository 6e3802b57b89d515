#include "core/interop/host/pci_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lanewise {
namespace {

struct ClassName {
  std::string_view name;
  std::uint32_t code;
};
// pci.ids 2023.04.11, the list of classes.
constexpr std::array<ClassName, 20> kClasses{{{"Non-Volatile memory controller", 0x010800},
                                              {"SATA controller", 0x010600},
                                              {"RAID bus controller", 0x010400},
                                              {"Serial Attached SCSI controller", 0x010700},
                                              {"Ethernet controller", 0x020000},
                                              {"Infiniband controller", 0x020700},
                                              {"Fabric controller", 0x020800},
                                              {"Network controller", 0x028000},
                                              {"VGA compatible controller", 0x030000},
                                              {"XGA compatible controller", 0x030100},
                                              {"3D controller", 0x030200},
                                              {"Display controller", 0x038000},
                                              {"Host bridge", 0x060000},
                                              {"ISA bridge", 0x060100},
                                              {"PCI bridge", 0x060400},
                                              {"Bridge", 0x068000},
                                              {"IOMMU", 0x080600},
                                              {"System peripheral", 0x088000},
                                              {"Co-processor", 0x0b4000},
                                              {"Processing accelerators", 0x120000}}};

struct VendorName {
  std::string_view name;
  std::string_view id;
};
// pci.ids 2023.04.11; Microsemi and Microchip as later and earlier versions name 11f8.
constexpr std::array<VendorName, 23> kVendors{{{"NVIDIA Corporation", "10de"},
                                               {"Advanced Micro Devices, Inc. [AMD/ATI]", "1002"},
                                               {"Advanced Micro Devices [AMD/ATI]", "1002"},
                                               {"Advanced Micro Devices, Inc. [AMD]", "1022"},
                                               {"Intel Corporation", "8086"},
                                               {"Mellanox Technologies", "15b3"},
                                               {"Broadcom / LSI", "1000"},
                                               {"PLX Technology, Inc.", "10b5"},
                                               {"PMC-Sierra Inc.", "11f8"},
                                               {"Microsemi / PMC / IDT", "11f8"},
                                               {"Microchip Technology", "11f8"},
                                               {"Samsung Electronics Co Ltd", "144d"},
                                               {"Amazon.com, Inc.", "1d0f"},
                                               {"Broadcom Inc. and subsidiaries", "14e4"},
                                               {"Broadcom Limited", "14e4"},
                                               {"Red Hat, Inc.", "1af4"},
                                               {"Microsoft Corporation", "1414"},
                                               {"VMware", "15ad"},
                                               {"Cray Inc", "17db"},
                                               {"IBM", "1014"},
                                               {"ASPEED Technology, Inc.", "1a03"},
                                               {"Matrox", "102b"},
                                               {"Netronome Systems, Inc.", "19ee"}}};

struct DeviceName {
  std::string_view vendor;
  std::string_view words;  // in the device's name
  std::string_view device;
};
// pci.ids 2023.04.11 for the devices of the catalogue; names of newer devices as published lspci outputs have them. The
// first that fits is taken.
constexpr std::array<DeviceName, 53> kDevices{{{"10de", "A100 SXM4 40GB", "20b0"},
                                               {"10de", "A100 SXM4 80GB", "20b2"},
                                               {"10de", "A100 PCIe 40GB", "20f1"},
                                               {"10de", "A100 PCIe 80GB", "20b5"},
                                               {"10de", "A100 NVSwitch", "1af1"},
                                               {"10de", "[A30 PCIe]", "20b7"},
                                               {"10de", "[RTX A6000]", "2230"},
                                               {"10de", "[GeForce RTX 3090]", "2204"},
                                               {"10de", "[GeForce RTX 4090]", "2684"},
                                               {"10de", "RTX 6000 Ada Generation]", "26b1"},
                                               {"10de", "[L40S]", "26b9"},
                                               {"10de", "H100 SXM5 80GB", "2330"},
                                               {"10de", "[H100 PCIe]", "2331"},
                                               {"10de", "H100 NVSwitch", "22a3"},
                                               {"10de", "H200 SXM 141GB", "2335"},
                                               {"10de", "GH200 120GB", "2342"},
                                               {"10de", "GH200 480GB", "2342"},
                                               {"10de", "[B200]", "2901"},
                                               {"10de", "RTX PRO 6000 Blackwell Server", "2bb5"},
                                               {"10de", "Tesla V100 SXM2 16GB", "1db1"},
                                               {"10de", "Tesla V100 SXM2 32GB", "1db5"},
                                               {"10de", "Tesla V100 SXM3 32GB", "1db8"},
                                               {"10de", "Tesla V100 PCIe 16GB", "1db4"},
                                               {"10de", "Tesla P100 PCIe 16GB", "15f8"},
                                               {"10de", "Tesla P100 SXM2 16GB", "15f9"},
                                               {"1002", "Instinct MI50", "66a1"},
                                               {"1002", "Instinct MI250X/MI250", "740c"},
                                               {"1002", "Instinct MI250X", "7408"},
                                               {"1002", "Instinct MI300X]", "74a1"},
                                               {"8086", "[Arc Pro B70]", "e223"},
                                               {"15b3", "[ConnectX-5 Ex Virtual Function]", "101a"},
                                               {"15b3", "[ConnectX-5 Virtual Function]", "1018"},
                                               {"15b3", "[ConnectX-5 Ex]", "1019"},
                                               {"15b3", "[ConnectX-5]", "1017"},
                                               {"15b3", "[ConnectX-6 Virtual Function]", "101c"},
                                               {"15b3", "[ConnectX-6 Dx]", "101d"},
                                               {"15b3", "[ConnectX-6]", "101b"},
                                               {"15b3", "[ConnectX-7]", "1021"},
                                               {"15b3", "BlueField-3 integrated", "a2dc"},
                                               {"1d0f", "Elastic Fabric Adapter", "efa0"},
                                               {"1d0f", "Elastic Network Adapter", "ec20"},
                                               {"10b5", "PEX 8747", "8747"},
                                               {"10b5", "PEX 8748", "8748"},
                                               {"10b5", "PEX 8749", "8749"},
                                               {"10b5", "PEX 8764", "8764"},
                                               {"10b5", "PEX 8796", "8796"},
                                               {"10b5", "PEX 9797", "9797"},
                                               {"1000", "PEX880xx", "c010"},
                                               {"1000", "PEX890xx", "c030"},
                                               {"11f8", "PFX 100xG4", "4000"},
                                               {"11f8", "PFX 100xG5", "5000"},
                                               {"144d", "PM173X", "a824"},
                                               {"1af4", "Virtio network device", "1000"}}};

// The number in "Device 2bb5", as lspci names a device that its list lacks.
std::string_view unnamed_device(std::string_view rest) {
  constexpr std::string_view kDevice = "Device ";
  constexpr std::size_t kDigits = 4;
  if (!rest.starts_with(kDevice)) return {};
  auto const digits = rest.substr(kDevice.size(), kDigits);
  bool const hex = digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return hex && digits.size() == kDigits ? digits : std::string_view();
}

}  // namespace

std::uint32_t pci_class_of(std::string_view name) {
  auto const found = std::find_if(kClasses.begin(), kClasses.end(), [&](auto const& row) { return row.name == name; });
  return found == kClasses.end() ? 0 : found->code;
}

std::string pci_id_of(std::string_view name) {
  for (auto const& vendor : kVendors) {
    if (!name.starts_with(vendor.name)) continue;
    auto rest = name.substr(vendor.name.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    auto device = unnamed_device(rest);
    for (auto const& known : kDevices)
      if (device.empty() && known.vendor == vendor.id && rest.find(known.words) != std::string_view::npos)
        device = known.device;
    return fmt::format("{}:{}", vendor.id, device);
  }
  return {};
}

}  // namespace lanewise
