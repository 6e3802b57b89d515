#include "core/interop/host/host_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/interop/host/gpu_links.hpp"

namespace lanewise {
namespace {

// Linux Documentation/ABI/testing/sysfs-kernel-iommu_groups.
IommuMode mode_of(PciFacts const& function) {
  if (function.driver == "vfio-pci") return IommuMode::Vfio;
  if (function.iommu_type == "identity") return IommuMode::Passthrough;
  if (function.iommu_type == "DMA-FQ") return IommuMode::Lazy;
  if (function.iommu_type == "DMA") return IommuMode::Strict;
  return IommuMode::Unknown;
}

// Linux Documentation/admin-guide/kernel-parameters.txt; for kernels whose groups do not say their type.
IommuMode by_kernel_arguments(std::string const& arguments) {
  auto const said = [&](std::string_view argument) {
    return fmt::format(" {} ", arguments).find(fmt::format(" {} ", argument)) != std::string::npos;
  };
  if (said("iommu=pt") || said("iommu.passthrough=1")) return IommuMode::Passthrough;
  if (said("iommu.strict=1")) return IommuMode::Strict;
  if (said("iommu.strict=0")) return IommuMode::Lazy;
  return IommuMode::Unknown;
}

// The known modes of all devices, or of the GPUs alone.
std::set<IommuMode> modes_of(PciTree const& tree, bool gpus_only) {
  std::set<IommuMode> modes;
  for (auto const& node : tree.nodes)
    if (node.kind && (!gpus_only || node.kind == PciKind::Gpu)) modes.insert(mode_of(node.facts));
  modes.erase(IommuMode::Unknown);
  return modes;
}

}  // namespace

IommuMode iommu_mode(PciTree const& tree, HostFacts const& facts, MachineBuilder& builder) {
  if (facts.platform.has_iommu == false) return IommuMode::Off;
  auto modes = modes_of(tree, true);
  if (modes.empty()) modes = modes_of(tree, false);
  if (modes.empty()) return by_kernel_arguments(facts.platform.kernel_arguments);
  if (modes.size() > 1)
    builder.note(
        fmt::format("devices are in IOMMU groups of different modes; {} is taken for all", to_string(*modes.rbegin())));
  return *modes.rbegin();
}

void describe_software(HostFacts const& facts, bool stand_ins, MachineBuilder& builder) {
  if (!facts.says_software) return;
  auto& software = builder.software();
  auto const& platform = facts.platform;
  software.cuda = stand_ins || facts.cuda.probe.found || (!facts.cuda.probe.asked && platform.has_module("nvidia"));
  software.peermem = platform.has_module("nvidia_peermem");
  software.gdrcopy = platform.has_module("gdrdrv");
  software.gpudirect_storage = platform.has_module("nvidia_fs");
  auto const& gpus = facts.cuda.gpus;
  bool const exports = !gpus.empty() && std::all_of(gpus.begin(), gpus.end(), [](auto const& g) { return g.dma_buf; });
  bool const rdma = std::any_of(facts.nics.begin(), facts.nics.end(), [](auto const& nic) { return nic.rdma; });
  software.dma_buf = exports && (!rdma || facts.verbs.dma_buf);
  software.fabric_manager = fabric_is_ready(facts);
  software.geforce_peer = refusal_is_lifted(facts, builder.machine());
  if (software.geforce_peer)
    builder.note("inferred: a modified driver, for it reports peer access between products that refuse it");
  for (auto const* probe : {&facts.nvml.probe, &facts.cuda.probe})
    if (probe->asked && !probe->found) builder.note(probe->reason);
}

}  // namespace lanewise
