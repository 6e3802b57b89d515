// GPUs as NVIDIA's management library knows them. Its header does not come with the driver, so the few needed calls are
// declared here, from the NVML API reference.
#include <fmt/format.h>

#include <array>
#include <cctype>

#include "hw/discover/sources/library.hpp"
#include "hw/discover/sources/sources.hpp"

namespace lanewise::hw {
namespace {

using NvmlDevice = struct nvmlDevice_st*;
using Return = int;
constexpr Return kNvmlSuccess = 0;
constexpr std::size_t kText = 96;  // NVML_DEVICE_NAME_V2_BUFFER_SIZE, the largest of its texts

struct PciInfo {  // nvmlPciInfo_t since version 3
  std::array<char, 16> bus_id_legacy;
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  std::array<char, 32> bus_id;  // "00000000:3B:00.0"
};
struct Bar1Memory {  // nvmlBAR1Memory_t
  unsigned long long total, available, used;
};
struct FabricInfo {  // nvmlGpuFabricInfo_t
  std::array<unsigned char, 16> cluster;
  Return status;
  unsigned clique;
  unsigned char state;
};

// The kernel's spelling: four digits of domain, lower case.
std::string bdf_of(PciInfo const& info) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", info.domain, info.bus, info.device);
}
std::string id_of(PciInfo const& info) {
  return fmt::format("{:04x}:{:04x}", info.pci_device_id & 0xffffU, info.pci_device_id >> 16U);
}
std::string text_of(std::array<char, kText> const& buffer) { return {buffer.data(), strnlen(buffer.data(), kText)}; }

// nvmlGpuTopologyLevel_t.
std::optional<PathClass> ancestor_of(unsigned level) {
  switch (level) {
    case 0: return PathClass::Self;
    case 10: return PathClass::Pix;
    case 20: return PathClass::Pxb;
    case 30: return PathClass::Phb;
    case 40: return PathClass::Node;
    case 50: return PathClass::Sys;
    default: return std::nullopt;
  }
}

// nvmlIntNvLinkDeviceType_t.
NvlinkRemote remote_of(unsigned type) {
  switch (type) {
    case 0: return NvlinkRemote::Gpu;
    case 1: return NvlinkRemote::Cpu;
    case 2: return NvlinkRemote::Switch;
    default: return NvlinkRemote::Unknown;
  }
}

std::string virtualization_of(unsigned mode) {  // nvmlGpuVirtualizationMode_t
  constexpr std::array<std::string_view, 5> kModes{"none", "passthrough", "vgpu", "host-vgpu", "host-vsga"};
  return mode < kModes.size() ? std::string(kModes[mode]) : std::string();
}

class Nvml {
 public:
  Nvml() : library_("libnvidia-ml.so.1") {}
  Nvml(Nvml const&) = delete;
  Nvml& operator=(Nvml const&) = delete;
  ~Nvml() {
    if (started_)
      if (auto* shutdown = library_.function<Return()>("nvmlShutdown")) shutdown();
  }

  NvmlFacts read() {
    NvmlFacts facts;
    facts.probe.asked = true;
    if (auto reason = start(); !reason.empty()) {
      facts.probe.reason = std::move(reason);
      return facts;
    }
    facts.probe.found = true;
    facts.driver_version = text("nvmlSystemGetDriverVersion");
    unsigned count = 0;
    call("nvmlDeviceGetCount_v2", &count);
    std::vector<NvmlDevice> devices;
    for (unsigned i = 0; i < count; ++i) {
      NvmlDevice device = nullptr;
      PciInfo info{};
      // Fails for a GPU that this user may not open.
      if (!call("nvmlDeviceGetHandleByIndex_v2", i, &device)) continue;
      if (!call("nvmlDeviceGetPciInfo_v3", device, &info)) continue;
      devices.push_back(device);
      facts.gpus.push_back(gpu(device, info));
    }
    for (std::size_t a = 0; a < devices.size(); ++a)
      for (std::size_t b = 0; b < devices.size(); ++b)
        if (a != b) facts.pairs.push_back(pair(devices[a], devices[b], facts.gpus[a].bdf, facts.gpus[b].bdf));
    return facts;
  }

 private:
  // True when the function is there and succeeds.
  template <class... Arguments>
  bool call(char const* name, Arguments... arguments) const {
    auto* const function = library_.function<Return(Arguments...)>(name);
    return function != nullptr && function(arguments...) == kNvmlSuccess;
  }

  std::string start() {
    if (!library_.is_loaded()) return library_.reason() + ": no NVIDIA driver";
    auto* const init = library_.function<Return()>("nvmlInit_v2");
    if (init == nullptr) return "libnvidia-ml.so.1 has no nvmlInit_v2: the driver is too old";
    auto const result = init();
    started_ = result == kNvmlSuccess;
    if (started_) return {};
    auto* const words = library_.function<char const*(Return)>("nvmlErrorString");
    return fmt::format("NVML does not start: {}", words == nullptr ? std::to_string(result) : words(result));
  }

  [[nodiscard]] std::string text(char const* name) const {
    std::array<char, kText> buffer{};
    return call(name, buffer.data(), static_cast<unsigned>(buffer.size() - 1)) ? text_of(buffer) : std::string();
  }
  [[nodiscard]] std::string text(char const* name, NvmlDevice device) const {
    std::array<char, kText> buffer{};
    return call(name, device, buffer.data(), static_cast<unsigned>(buffer.size() - 1)) ? text_of(buffer)
                                                                                       : std::string();
  }
  [[nodiscard]] std::optional<unsigned> number(char const* name, NvmlDevice device) const {
    unsigned value = 0;
    return call(name, device, &value) ? std::optional(value) : std::nullopt;
  }

  [[nodiscard]] std::optional<PcieLink> link(NvmlDevice device, char const* generation, char const* width) const {
    auto const g = number(generation, device);
    auto const w = number(width, device);
    return g && w ? parse_pcie_link(fmt::format("gen{} x{}", *g, *w)).value : std::nullopt;
  }

  [[nodiscard]] NvmlGpu gpu(NvmlDevice device, PciInfo const& info) const {
    NvmlGpu gpu;
    gpu.bdf = bdf_of(info);
    gpu.id = id_of(info);
    gpu.name = text("nvmlDeviceGetName", device);
    gpu.uuid = text("nvmlDeviceGetUUID", device);
    gpu.firmware = text("nvmlDeviceGetVbiosVersion", device);
    gpu.link = link(device, "nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetCurrPcieLinkWidth");
    gpu.max_link = link(device, "nvmlDeviceGetMaxPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkWidth");
    if (Bar1Memory bar1{}; call("nvmlDeviceGetBAR1MemoryInfo", device, &bar1))
      gpu.bar1 = Bytes(static_cast<std::int64_t>(bar1.total));
    unsigned current = 0;
    unsigned pending = 0;
    if (call("nvmlDeviceGetMigMode", device, &current, &pending)) gpu.mig = current == 1;
    if (auto const mode = number("nvmlDeviceGetVirtualizationMode", device))
      gpu.virtualization = virtualization_of(*mode);
    gpu.c2c = has_c2c(device);
    read_fabric(device, gpu);
    read_links(device, gpu);
    return gpu;
  }

  void read_fabric(NvmlDevice device, NvmlGpu& gpu) const {
    FabricInfo fabric{};
    if (!call("nvmlDeviceGetGpuFabricInfo", device, &fabric) || fabric.state > 3) return;
    gpu.fabric = static_cast<FabricState>(fabric.state);
    gpu.fabric_clique = static_cast<int>(fabric.clique);
  }

  [[nodiscard]] bool has_c2c(NvmlDevice device) const {
    unsigned enabled = 0;  // the whole of nvmlC2cModeInfo_v1_t
    return call("nvmlDeviceGetC2cModeInfoV", device, &enabled) && enabled == 1;
  }

  void read_links(NvmlDevice device, NvmlGpu& gpu) const {
    constexpr unsigned kMaxLinks = 36;  // more than any GPU has; past the last one the call fails
    for (unsigned number = 0; number < kMaxLinks; ++number) {
      unsigned active = 0;
      if (!call("nvmlDeviceGetNvLinkState", device, number, &active) || active != 1) continue;
      NvmlLink link;
      link.number = static_cast<int>(number);
      if (unsigned type = 0; call("nvmlDeviceGetNvLinkRemoteDeviceType", device, number, &type))
        link.remote = remote_of(type);
      if (PciInfo remote{}; call("nvmlDeviceGetNvLinkRemotePciInfo_v2", device, number, &remote))
        link.remote_bdf = bdf_of(remote);
      if (unsigned version = 0; call("nvmlDeviceGetNvLinkVersion", device, number, &version) && version < 100)
        link.version = static_cast<int>(version);
      read_capabilities(device, number, link);
      gpu.links.push_back(std::move(link));
    }
  }

  void read_capabilities(NvmlDevice device, unsigned number, NvmlLink& link) const {
    constexpr std::array<char const*, 4> kNames{"p2p", "sysmem", "p2p_atomics", "sysmem_atomics"};
    for (unsigned which = 0; which < kNames.size(); ++which)  // nvmlNvLinkCapability_t
      if (unsigned has = 0; call("nvmlDeviceGetNvLinkCapability", device, number, which, &has) && has == 1)
        link.capabilities.emplace_back(kNames.at(which));
  }

  [[nodiscard]] NvmlPair pair(NvmlDevice from, NvmlDevice to, std::string const& from_bdf,
                              std::string const& to_bdf) const {
    NvmlPair pair;
    pair.from = from_bdf;
    pair.to = to_bdf;
    for (unsigned op = 0; op < kPeerOps; ++op)
      if (unsigned status = 0; call("nvmlDeviceGetP2PStatus", from, to, op, &status))
        pair.status.at(op) = status <= static_cast<unsigned>(PeerStatus::Unknown) ? static_cast<PeerStatus>(status)
                                                                                  : PeerStatus::Unknown;
    if (unsigned level = 0; call("nvmlDeviceGetTopologyCommonAncestor", from, to, &level))
      pair.ancestor = ancestor_of(level);
    return pair;
  }

  Library library_;
  bool started_ = false;
};

}  // namespace

NvmlFacts read_nvml() { return Nvml().read(); }

}  // namespace lanewise::hw
