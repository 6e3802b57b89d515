#pragma once
// Reads NCCL's topology file into plain values: checks them and infers nothing. For every switch NCCL writes only the
// upstream port; downstream ports and root ports are not in the file.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/io/file.hpp"
#include "lanewise/machine/pcie_link.hpp"

namespace lanewise {

// One <nvlink>, <xgmi> or <c2c> of a GPU.
struct NcclLink {
  enum class Kind : std::uint8_t { NvLink, Xgmi, C2c };
  Kind kind = Kind::NvLink;
  std::string target;        // a PCI address; of c2c: empty
  std::string target_class;  // "0x068000"
  int count = 1;
  double bandwidth = 0;  // of one c2c link, MB/s
};

struct NcclGpu {
  std::optional<int> device;  // CUDA's number
  std::string sm;             // NVIDIA: compute capability as "80"; AMD: compute units
  std::string gcn;            // AMD: "906", "gfx90a"
  std::vector<NcclLink> links;
};

struct NcclNet {
  std::string name;
  int speed = 0;  // Mb/s; 0: not given
  bool gpudirect = false;
};

// One <pci>: a device, or a switch seen at its upstream port.
struct NcclPci {
  std::string bus_id;     // lower case; empty: the file gives none
  bool repeated = false;  // another element has the same address
  std::optional<std::uint32_t> device_class;
  std::string id;         // "10de:20b0"; empty: not given
  std::string subsystem;  // the same, of the board
  int generation = 0;     // of its link; 0: not given
  int width = 0;          // 0: not given
  std::optional<NcclGpu> gpu;
  std::vector<NcclNet> nets;
  std::vector<NcclPci> below;

  // nullopt unless the file gives both generation and width.
  [[nodiscard]] std::optional<PcieLink> link() const {
    return generation > 0 && width > 0 ? std::optional(PcieLink{generation, width}) : std::nullopt;
  }
  // A group of devices that someone wrote by hand, for a virtual machine that hides its switches.
  [[nodiscard]] bool is_virtual() const { return bus_id.starts_with("ffff:"); }
  [[nodiscard]] bool is_bridge() const { return device_class && *device_class >> 8 == 0x0604; }
};

struct NcclCpu {
  int numa = 0;  // -1: not known
  std::string cores;
  std::string arch;
  std::string cpuid;  // "GenuineIntel/6/85", the family as CPUID displays it; empty: not given
  std::vector<NcclPci> pci;
  std::vector<NcclNet> nets;  // without a PCI address
};

struct NcclSystem {
  std::vector<NcclCpu> cpus;
  std::vector<std::string> notes;  // about unknown elements and odd values
  std::string preamble;            // the file's name and the comments before its root, lower case
};

// An odd value is left out, with a note. Throws InputError where there is no machine to read: not XML, another root
// element, no CPU, more elements than any machine has.
NcclSystem read_nccl_system(SourceText const& source);

}  // namespace lanewise
