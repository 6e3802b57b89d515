#pragma once
// What sources say about one host, before any conclusions. Each source fills its own part: the system and its drivers
// in hw/discover, files that other tools print in core/interop/host/files. machine_of() makes a machine of all of it.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/interop/host/pci_config.hpp"
#include "core/machine/path_class.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Whether a source was there. A missing source is no error.
struct Probe {
  bool asked = false;  // false: another sysfs root than this machine's was read
  bool found = false;
  std::string reason;  // why it was not found
};

// From sysfs.

// What a source's link of a function is: as trained; a bandwidth, from which width and generation are inferred; or what
// both of its ends are capable of.
enum class LinkReading : std::uint8_t { Trained, Bandwidth, Capability };

struct PciFacts {
  std::string bdf;       // "0000:3b:00.0"
  std::string above;     // the bridge above; empty: on a root bus
  std::string root_bus;  // "0000:3a"
  std::uint32_t class_code = 0;
  std::string id;         // "10de:2335"; "10de:": only the vendor is known
  std::string subsystem;  // the same for the board
  PciConfig config;
  std::optional<PcieLink> link;
  std::optional<PcieLink> max_link;
  LinkReading link_reading = LinkReading::Trained;
  std::vector<Bytes> bars;  // sizes of its used base address registers
  int numa = -1;            // -1: unknown
  std::string iommu_group;  // empty: none
  std::string iommu_type;   // "identity", "DMA", "DMA-FQ"; empty: unknown
  std::string driver;
  bool virtual_function = false;  // of SR-IOV, seen from the host
  std::string product;            // "NVIDIA Corporation GA100 [A100 SXM4 40GB]"; empty: unknown
  std::string slot;               // the label of its physical slot; empty: unknown
  std::string firmware;           // the version of its firmware; empty: unknown
  bool address_unknown = false;   // `bdf` only keeps it apart from others
  bool is_accelerator = false;    // the source lists it as a GPU
  bool above_unknown = false;     // the source does not say what it hangs from, not even the root bus

  [[nodiscard]] bool is_bridge() const { return class_code >> 8U == 0x0604; }
  [[nodiscard]] bool is_nic() const { return class_code >> 16U == 0x02; }
  [[nodiscard]] bool is_nvme() const { return class_code >> 8U == 0x0108; }
};

// Whether an adapter is known for RDMA by its class or its maker, for sources that list no RDMA devices.
inline bool is_rdma_adapter(PciFacts const& function) {
  return function.class_code >> 8U == 0x0207 || (function.is_nic() && function.id.starts_with("15b3:"));
}

struct NumaFacts {
  int node = 0;
  std::string cores;          // "0-27,56-83"; empty: it has none
  std::vector<int> packages;  // the sockets that its cores are in, ascending
};

struct CpuFacts {
  std::string cpuid;       // "GenuineIntel/6/207", with the display family; empty: unknown
  std::string model_name;  // "AMD EPYC 7763 64-Core Processor"
  bool hypervisor = false;
  std::vector<NumaFacts> nodes;  // at least one
  std::string part = {};         // the part that the user names, or that the source leaves no doubt about; empty: none
  std::string stand_in = {};     // the part that stands for a CPU that nothing tells; empty: it stays unknown
};

struct PlatformFacts {
  std::string hypervisor;  // kvm, firecracker, ...; empty: none, or unknown where CpuFacts::hypervisor is true
  std::string product;     // the server, as its firmware names it
  std::string firmware;    // "Dell Inc. 2.1.5"
  std::string kernel_arguments;
  std::optional<bool> has_iommu;     // the kernel uses one; absent: unknown
  std::vector<std::string> modules;  // the loaded ones among those that matter here
  [[nodiscard]] bool has_module(std::string_view name) const {
    for (auto const& module : modules)
      if (module == name) return true;
    return false;
  }
};

// A network interface or an RDMA device.
struct NicFacts {
  std::string name;   // "mlx5_0", "eth0"
  std::string bdf;    // empty: no PCI function of its own
  std::string below;  // the interface that a software device (rxe) uses
  bool rdma = false;
  std::string guid;        // of an RDMA device
  std::string firmware;    // its version; empty: unknown
  std::string link_layer;  // "InfiniBand", "Ethernet"
  bool up = false;
  std::optional<BytesPerSecond> rate;  // of all its ports that are up
  std::optional<bool> in_verbs;        // libibverbs lists it
};

// A block device on PCI functions: a drive, or an array of several.
struct BlockDeviceFacts {
  std::string name;                    // "nvme0n1", "md0"
  std::vector<std::string> functions;  // their addresses
  std::optional<Bytes> bytes;
  std::vector<std::string> mounted_at;  // it and its partitions
};

// From NVML.

enum class NvlinkRemote : std::uint8_t { Unknown, Gpu, Cpu, Switch };
struct NvmlLink {
  int number = 0;
  NvlinkRemote remote = NvlinkRemote::Unknown;
  std::string remote_bdf;
  int version = 0;                        // NVML's number; 0: unknown
  std::vector<std::string> capabilities;  // p2p, sysmem, p2p_atomics, sysmem_atomics
};

// nvmlGpuP2PStatus_t, in its order; NotReported: the call failed.
enum class PeerStatus : std::uint8_t {
  Ok,
  ChipsetNotSupported,
  GpuNotSupported,
  TopologyNotSupported,
  DisabledByRegistry,
  NotSupported,
  Unknown,
  NotReported
};
// nvmlGpuP2PCapsIndex_t, in its order.
enum class PeerOp : std::uint8_t { Read, Write, Nvlink, Atomics, Pci };
inline constexpr std::size_t kPeerOps = 5;

enum class FabricState : std::uint8_t { NotSupported, NotStarted, InProgress, Completed };
struct NvmlGpu {
  std::string bdf;
  std::string id;  // "10de:2335"
  std::string name;
  std::string compute_capability;  // "9.0"; empty: unknown
  std::string uuid;
  std::string firmware;  // VBIOS
  std::optional<PcieLink> link;
  std::optional<PcieLink> max_link;
  std::optional<Bytes> bar1;
  std::optional<bool> mig;
  std::string virtualization;  // none, passthrough, vgpu, ...; empty: unknown
  std::optional<FabricState> fabric;
  int fabric_clique = 0;
  bool c2c = false;             // NVLink-C2C to its CPU
  std::vector<NvmlLink> links;  // the active ones
  std::optional<Bytes> memory;
};
struct NvmlPair {
  std::string from, to;  // addresses
  std::array<PeerStatus, kPeerOps> status{PeerStatus::NotReported, PeerStatus::NotReported, PeerStatus::NotReported,
                                          PeerStatus::NotReported, PeerStatus::NotReported};
  std::optional<PathClass> ancestor;
};
struct NvmlFacts {
  Probe probe;
  std::string driver_version;
  std::vector<NvmlGpu> gpus;    // in the order of nvidia-smi
  std::vector<NvmlPair> pairs;  // both directions
};

// From CUDA.

struct CudaGpu {
  int ordinal = 0;
  std::string bdf;
  std::string name;
  std::string compute_capability;  // "9.0"
  int multiprocessors = 0;
  int copy_engines = 0;
  Bytes memory{0};
  bool integrated = false, managed = false, concurrent_managed = false, pageable = false, host_atomics = false,
       dma_buf = false, rdma = false;
};
struct CudaPair {
  std::string from, to;
  bool access = false, atomics = false;
  std::optional<int> rank;
};
struct CudaFacts {
  Probe probe;
  int driver_version = 0;  // 12040 is 12.4
  std::vector<CudaGpu> gpus;
  std::vector<CudaPair> pairs;
};

// xGMI between two GPUs of AMD; each pair once.
struct XgmiFacts {
  std::string a, b;                         // addresses
  std::optional<BytesPerSecond> bandwidth;  // of all links between them, one direction
  int hops = 0;                             // 0: unknown
  int links = 0;                            // 0: unknown
};

struct VerbsFacts {
  Probe probe;
  bool dma_buf = false;  // the library registers memory by dma-buf
  std::vector<std::string> devices;
};

struct HostFacts {
  std::string source = "the system";  // what notes call their origin
  CpuFacts cpu;
  PlatformFacts platform;
  std::vector<PciFacts> pci;  // ascending by address
  std::vector<NicFacts> nics;
  std::vector<BlockDeviceFacts> block_devices;
  std::string gpu_part, nic_part, switch_part;  // what the user names, for devices that no id tells; empty: none
  bool lists_nics = true;        // `nics` has every network device; false: adapters are known by their class and id
  bool shows_config = true;      // config space is in it, unless root alone may read it; false: the format has none
  bool says_software = true;     // the platform's modules are known
  bool links_may_sleep = false;  // nobody woke the GPUs before their links were read
  bool lists_nvlinks = true;     // false: that it has none says nothing
  bool lists_ports = true;       // false: of switches it has the upstream ports alone, and no root ports
  NvmlFacts nvml;
  CudaFacts cuda;
  std::vector<XgmiFacts> xgmi;
  VerbsFacts verbs;
  std::vector<std::string> notes;  // what the sources could not read
};

}  // namespace lanewise
