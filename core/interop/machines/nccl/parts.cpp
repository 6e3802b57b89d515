#include "core/interop/machines/nccl/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace lanewise {
namespace {

std::vector<std::string> gpu_parts_where(Catalogue& catalogue, std::function<bool(Part const&)> const& fits) {
  std::vector<std::string> names;
  for (auto const& name : catalogue.part_names())
    if (auto const* part = catalogue.part(name); part->kind == PartKind::Gpu && fits(*part)) names.push_back(name);
  return names;
}

// RCCL writes gcn="906" or "gfx906"; older versions wrote 910 for gfx90a and 940 for gfx942.
std::string chip_of_gcn(std::string_view gcn) {
  if (gcn.starts_with("gfx")) gcn.remove_prefix(3);
  if (gcn == "910") gcn = "90a";
  if (gcn == "940" || gcn == "941") gcn = "942";
  return fmt::format("gfx{}", gcn);
}

// "8.0" of "80", "10.3" of "103".
std::string capability_of_sm(std::string const& sm) {
  bool const digits = sm.size() >= 2 && sm.find_first_not_of("0123456789") == std::string::npos;
  return digits ? fmt::format("{}.{}", sm.substr(0, sm.size() - 1), sm.back()) : std::string();
}

std::string amd_gpu_part(NcclGpu const& gpu, MachineBuilder& builder) {
  auto const chip = chip_of_gcn(gpu.gcn);
  auto of_chip = gpu_parts_where(builder.catalogue(), [&](Part const& p) { return p.gpu.chip == chip; });
  auto const of_size = gpu_parts_where(builder.catalogue(), [&](Part const& p) {
    return p.gpu.chip == chip && p.gpu.multiprocessors && fmt::format("{}", *p.gpu.multiprocessors) == gpu.sm;
  });
  auto const& found = of_size.empty() ? of_chip : of_size;
  if (found.size() == 1) {
    builder.note(fmt::format("inferred: GPUs of {} with {} compute units are '{}'; --gpu names others", chip, gpu.sm,
                             found.front()));
    return found.front();
  }
  builder.note(found.empty() ? fmt::format("the catalogue has no GPU of {}", chip)
                             : fmt::format("GPUs of {} with {} compute units could be {}; --gpu says which", chip,
                                           gpu.sm, fmt::join(found, ", ")));
  return {};
}

std::string nvidia_gpu_part(NcclGpu const& gpu, int nvlinks, MachineBuilder& builder) {
  auto const capability = capability_of_sm(gpu.sm);
  auto const found = gpu_parts_where(builder.catalogue(), [&](Part const& p) {
    return !capability.empty() && p.gpu.compute_capability == capability && p.gpu.nvlink_ports >= nvlinks;
  });
  if (found.size() == 1) {
    builder.note(fmt::format(
        "inferred: GPUs of compute capability {} are '{}', the only ones in the catalogue; --gpu names others",
        capability, found.front()));
    return found.front();
  }
  builder.note(found.empty()
                   ? fmt::format("the file gives no PCI id for GPUs of sm '{}'", gpu.sm)
                   : fmt::format("GPUs of compute capability {} without a PCI id could be {}; --gpu says which",
                                 capability, fmt::join(found, ", ")));
  return {};
}

using LinkTest = std::function<bool(NcclLink const&)>;
bool has_gpu_link(NcclPci const& pci, LinkTest const& wanted) {
  if (pci.gpu && std::any_of(pci.gpu->links.begin(), pci.gpu->links.end(), wanted)) return true;
  return std::any_of(pci.below.begin(), pci.below.end(),
                     [&](NcclPci const& child) { return has_gpu_link(child, wanted); });
}

bool has_ports_for(std::string const& name, int nvlinks, MachineBuilder& builder) {
  auto const* part = builder.catalogue().part(name);
  if (part->gpu.vendor != "nvidia" || nvlinks <= part->gpu.nvlink_ports) return true;
  builder.note(
      fmt::format("the file gives a GPU with the PCI id of '{}' {} NVLinks, but that part has {} ports; left unknown",
                  name, nvlinks, part->gpu.nvlink_ports));
  return false;
}

}  // namespace

std::string cpu_part(NcclCpu const& cpu, MachineBuilder& builder) {
  if (auto const* part = cpu.cpuid.empty() ? nullptr : builder.catalogue().part_by_cpuid(cpu.cpuid);
      part != nullptr && part->kind == PartKind::Cpu) {
    builder.note(fmt::format(
        "the file names the CPU only as {}, which is '{}'; --cpu names the exact product, which may say more",
        cpu.cpuid, part->name));
    return part->name;
  }
  auto const has_link = [&](LinkTest const& wanted) {
    return std::any_of(cpu.pci.begin(), cpu.pci.end(), [&](NcclPci const& pci) { return has_gpu_link(pci, wanted); });
  };
  // Only Grace is linked to GPUs by C2C, and only POWER9 by NVLink.
  if (cpu.arch == "arm64" && has_link([](NcclLink const& link) { return link.kind == NcclLink::Kind::C2c; })) {
    builder.note("inferred: an Arm CPU with NVLink-C2C is a Grace; --cpu names another");
    return "grace";
  }
  if (cpu.arch == "ppc64" && has_link([](NcclLink const& link) { return link.target_class == "0x068001"; })) {
    builder.note("inferred: a POWER CPU with NVLink is the POWER9 of an AC922; --cpu names another");
    return "power9-ac922";
  }
  builder.note(cpu.cpuid.empty() ? fmt::format("the file does not name the CPU{}",
                                               cpu.arch.empty() ? "" : fmt::format(" (only that it is {})", cpu.arch))
                                 : fmt::format("the catalogue has no CPU of cpuid '{}' ({})", cpu.cpuid, cpu.arch));
  return {};
}

std::string gpu_part(NcclPci const& pci, int nvlinks, MachineBuilder& builder) {
  // MI50 and MI60 share a PCI id, so chip and number of compute units are tried first.
  if (pci.gpu && !pci.gpu->gcn.empty())
    if (auto const name = amd_gpu_part(*pci.gpu, builder); !name.empty()) return name;
  auto name = builder.part_by_pci_id(pci.id, PartKind::Gpu);
  if (!name.empty()) return has_ports_for(name, nvlinks, builder) ? name : std::string();
  if (pci.id.empty() && pci.gpu && pci.gpu->gcn.empty()) return nvidia_gpu_part(*pci.gpu, nvlinks, builder);
  if (!pci.gpu && pci.id.empty()) builder.note("the file names no product for its GPUs; left unknown");
  return {};
}

std::string nic_part(NcclPci const& pci, MachineBuilder& builder) {
  if (!pci.id.empty()) return builder.part_by_pci_id(pci.id, PartKind::Nic);
  auto const speed = std::accumulate(pci.nets.begin(), pci.nets.end(), 0LL,
                                     [](long long sum, NcclNet const& net) { return sum + net.speed; });
  if (!pci.nets.empty() && pci.nets.front().name.starts_with("mlx5")) {
    std::string const name = speed == 100'000   ? "connectx-5-edr"
                             : speed == 200'000 ? "connectx-6-hdr"
                             : speed == 400'000 ? "connectx-7-ndr"
                                                : "";
    if (!name.empty()) {
      builder.note(
          fmt::format("inferred: '{}' for mlx5 devices of {} Gb/s, for the file gives no PCI id; --nic names another",
                      name, speed / 1000));
      return name;
    }
  }
  builder.note("the file names no product for NICs without a PCI id; left unknown");
  return {};
}

std::string switch_part(NcclPci const& bridge, MachineBuilder& builder) {
  if (!bridge.is_virtual()) {
    if (bridge.id.empty()) builder.note("the file names no product for its switches; left unknown");
    return builder.part_by_pci_id(bridge.id, PartKind::Switch);
  }
  auto generation = bridge.generation;
  for (auto const& device : bridge.below) generation = std::max(generation, device.generation);
  builder.note("the bridges at ffff:ff are groups, not devices: a generic switch of their generation stands for each");
  return generation >= 3 && generation <= 5 ? fmt::format("pcie-switch-gen{}", generation) : std::string();
}

int nvlink_generation(Part const* gpu, std::string const& sm) {
  if (gpu != nullptr && !gpu->spread) return gpu->gpu.nvlink_generation;  // a generic part has none of its own
  // CUDA programming guide, compute capabilities; NVIDIA white papers of P100, V100, A100, H100 and B200.
  constexpr std::array<std::pair<std::string_view, int>, 6> kGenerations{
      {{"60", 1}, {"70", 2}, {"80", 3}, {"90", 4}, {"100", 5}, {"103", 5}}};
  for (auto const& [of, generation] : kGenerations)
    if (of == sm) return generation;
  return 0;
}

}  // namespace lanewise
