#include "core/interop/machines/nccl/part_choice.hpp"

#include <fmt/format.h>

#include "core/interop/machines/nccl/parts.hpp"

namespace lanewise {
namespace {

// What the user names, else what the file tells.
template <class Read>
std::string given_or(std::string const& given, Read read) {
  return given.empty() ? read() : given;
}

}  // namespace

std::string NcclPartChoice::cpu(NcclCpu const& cpu) {
  auto part = cpu_part(cpu, builder_);
  if (!options_.cpu.empty()) part = options_.cpu;
  if (part.empty()) part = generic("cpu-generic", PartKind::Cpu, "a CPU", "--cpu");
  return part;
}

std::optional<PartId> NcclPartChoice::of(NcclPci const& pci, PciKind kind, int nvlinks) {
  switch (kind) {
    case PciKind::Switch:
      return builder_.part(given_or(options_.pcie_switch, [&] { return switch_part(pci, builder_); }),
                           PartKind::Switch);
    case PciKind::Gpu: return builder_.part(gpu(pci, nvlinks), PartKind::Gpu);
    case PciKind::Nic:
      return builder_.part(given_or(options_.nic, [&] { return nic_part(pci, builder_); }), PartKind::Nic);
    case PciKind::Nvme: return builder_.part(builder_.part_by_pci_id(pci.id, PartKind::Nvme), PartKind::Nvme);
    case PciKind::Device: return builder_.part(builder_.part_by_pci_id(pci.id, PartKind::Device), PartKind::Device);
    case PciKind::RootPort: break;
  }
  return std::nullopt;
}

std::string NcclPartChoice::gpu(NcclPci const& pci, int nvlinks) {
  if (!options_.gpu.empty()) return options_.gpu;
  if (!product_.empty() && pci.id.empty()) return product_;
  auto const name = gpu_part(pci, nvlinks, builder_);
  bool const amd = pci.id.starts_with("1002:") || (pci.gpu && !pci.gpu->gcn.empty());
  if (!name.empty()) return name;
  return amd ? generic(builder_.generic_gpu_of("amd"), PartKind::Gpu, "a GPU of AMD", "--gpu")
             : generic("gpu-generic", PartKind::Gpu, "a GPU", "--gpu");
}

// A generic part where the catalogue has it.
std::string NcclPartChoice::generic(std::string const& name, PartKind kind, std::string_view what,
                                    std::string_view option) {
  auto const* part = builder_.catalogue().part(name);
  if (part == nullptr || part->kind != kind) return {};
  builder_.note_stand_in(name, fmt::format("{} that the file does not name, or the catalogue does not have", what),
                         option);
  return name;
}

}  // namespace lanewise
