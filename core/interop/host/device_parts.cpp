#include "core/interop/host/device_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/interop/machines/nccl/parts.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kIdSize = 9;  // "10de:2335"

// Words in lower case: "AMD EPYC 7763 64-Core Processor" has amd, epyc, 7763, 64, core, processor.
std::set<std::string> set_of_words(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  for (char const c : text) {
    bool const upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      word += upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else {
      words.insert(word);
      word.clear();
    }
  }
  words.insert(word);
  words.erase("");
  return words;
}

// A part such as epyc-7763: the product's name has all its words, and one of them is a number, so that no whole family
// matches.
std::string cpu_by_product(std::string const& model_name, Catalogue& catalogue) {
  if (model_name.empty()) return {};
  auto const product = set_of_words(model_name);
  for (auto const& name : catalogue.part_names()) {
    auto const words = set_of_words(name);
    bool const all = std::includes(product.begin(), product.end(), words.begin(), words.end());
    bool const exact = words.size() > 1 && std::any_of(words.begin(), words.end(), [](std::string const& word) {
                         return word.find_first_of("0123456789") != std::string::npos;
                       });
    if (all && exact && catalogue.part(name)->kind == PartKind::Cpu) return name;
  }
  return {};
}

CudaGpu const* find_cuda(CudaFacts const& cuda, std::string_view bdf) {
  auto const found = std::find_if(cuda.gpus.begin(), cuda.gpus.end(), [&](auto const& gpu) { return gpu.bdf == bdf; });
  return found == cuda.gpus.end() ? nullptr : &*found;
}
NvmlGpu const* find_nvml(NvmlFacts const& nvml, std::string_view bdf) {
  auto const found = std::find_if(nvml.gpus.begin(), nvml.gpus.end(), [&](auto const& gpu) { return gpu.bdf == bdf; });
  return found == nvml.gpus.end() ? nullptr : &*found;
}

// A part for a product that the catalogue lacks, from what its drivers say.
Part observed_gpu(PciFacts const& gpu, CudaGpu const& cuda, NvmlGpu const* nvml) {
  Part part;
  part.kind = PartKind::Gpu;
  part.name = "gpu-" + (gpu.id.empty() ? std::string("unnamed") : gpu.id);
  std::replace(part.name.begin(), part.name.end(), ':', '-');
  part.title = fmt::format("{}, as its drivers describe it", cuda.name);
  part.pcie.link = gpu.max_link ? gpu.max_link : gpu.config.max_link;
  part.gpu.vendor = "nvidia";
  part.gpu.chip = "sm-" + cuda.compute_capability;
  part.gpu.compute_capability = cuda.compute_capability;
  part.gpu.multiprocessors = cuda.multiprocessors;
  part.gpu.memory = cuda.memory;
  part.gpu.copy_engines = cuda.copy_engines;
  part.gpu.rdma = cuda.rdma;
  if (nvml == nullptr) return part;
  part.gpu.bar1 = nvml->bar1;
  auto sm = cuda.compute_capability;
  std::erase(sm, '.');
  if (!nvml->links.empty()) {
    part.gpu.nvlink_generation = nvlink_generation(nullptr, sm);
    part.gpu.nvlink_ports = nvml->links.back().number + 1;
  }
  return part;
}

// What is known of a device that the catalogue does not have.
std::string product_of(PciFacts const& device) {
  if (device.id == "1002:") return "of AMD";  // a table of AMD's tool without ids
  if (device.product.empty()) return device.id.empty() ? device.bdf : device.id;
  return fmt::format("'{}' {}", device.product, device.id);
}

// A part that is no generic one is the user's own choice.
void note_choice(std::string const& name, std::string const& product, std::string_view option,
                 MachineBuilder& builder) {
  auto const* part = builder.catalogue().part(name);
  if (part != nullptr && part->spread) return builder.note_stand_in(name, product, option);
  builder.note(fmt::format("'{}' stands for {}", name, product));
}

// What stands for a GPU in place of `name`: a generic part is of one maker, and has what that maker's drivers allow, so
// that of the GPU's own maker. Empty: there is none.
std::string stand_in_of_maker(std::string const& name, PciFacts const& gpu, MachineBuilder& builder) {
  auto const* part = builder.catalogue().part(name);
  if (part == nullptr || !part->spread) return name;
  auto const maker = gpu.id.substr(0, gpu.id.find(':'));
  auto const known = maker == "10de" ? "nvidia" : maker == "1002" ? "amd" : maker == "8086" ? "intel" : "";
  return *known == '\0' || part->gpu.vendor == known ? name : builder.generic_gpu_of(known);
}

void note_unknown_gpu(PciFacts const& gpu, MachineBuilder& builder) {
  if (!gpu.product.empty())
    builder.note(fmt::format("the catalogue has no GPU '{}'{}; left unknown", gpu.product,
                             gpu.id.size() == kIdSize ? fmt::format(" ({})", gpu.id) : ""));
  else
    builder.part_by_pci_id(gpu.id, PartKind::Gpu);  // notes that there is none
}

}  // namespace

std::string cpu_part(HostFacts const& facts, MachineBuilder& builder) {
  auto const& cpu = facts.cpu;
  auto& catalogue = builder.catalogue();
  if (!cpu.part.empty()) return cpu.part;
  if (auto name = cpu_by_product(cpu.model_name, catalogue); !name.empty()) return name;
  if (auto const* part = cpu.cpuid.empty() ? nullptr : catalogue.part_by_cpuid(cpu.cpuid);
      part != nullptr && part->kind == PartKind::Cpu) {
    if (!cpu.model_name.empty())
      builder.note(fmt::format("the CPU is '{}' ({}), of which the catalogue knows the family: '{}'", cpu.model_name,
                               cpu.cpuid, part->name));
    return part->name;
  }
  // GH200 and GB200 are named for the Grace beside the GPU; its own cpuinfo names only cores of Arm's.
  for (auto const& gpu : facts.nvml.gpus)
    if (gpu.c2c) {
      builder.note("inferred: a CPU that has NVLink-C2C to its GPU is a Grace");
      return "grace";
    }
  if (cpu.model_name.starts_with("POWER9"))
    for (auto const& gpu : facts.nvml.gpus)
      for (auto const& link : gpu.links)
        if (link.remote == NvlinkRemote::Cpu) return "power9-ac922";
  bool const unnamed = cpu.model_name.empty() && cpu.cpuid.empty();
  auto const product = unnamed ? std::string("the CPU, which " + facts.source + " does not name")
                               : fmt::format("the CPU '{}' ({}), which the catalogue does not have", cpu.model_name,
                                             cpu.cpuid.empty() ? "no CPUID" : cpu.cpuid);
  if (cpu.stand_in.empty())
    builder.note(fmt::format("{}, is left unknown", product));
  else
    builder.note_stand_in(cpu.stand_in, product, "--cpu");
  return cpu.stand_in;
}

std::optional<PartId> gpu_part(PciFacts const& gpu, HostFacts const& facts, MachineBuilder& builder) {
  auto const* nvml = find_nvml(facts.nvml, gpu.bdf);
  auto const* cuda = find_cuda(facts.cuda, gpu.bdf);
  auto const* known = builder.catalogue().part_by_pci_id(gpu.id);
  if (known != nullptr && known->kind == PartKind::Gpu) {
    auto const links = nvml == nullptr ? 0 : static_cast<int>(nvml->links.size());
    if (known->gpu.vendor != "nvidia" || links <= known->gpu.nvlink_ports)
      return builder.part(known->name, PartKind::Gpu);
    builder.note(fmt::format("{} has the PCI id of '{}' but {} NVLinks, and that part has {} ports", gpu.bdf,
                             known->name, links, known->gpu.nvlink_ports));
  }
  if (cuda != nullptr) {
    auto part = observed_gpu(gpu, *cuda, nvml);
    builder.note(fmt::format("the catalogue has no GPU '{}' ({}); '{}' says what its drivers say", cuda->name, gpu.id,
                             part.name));
    return builder.inline_part(std::move(part));
  }
  auto const stand_in = stand_in_of_maker(facts.gpu_part, gpu, builder);
  if (known == nullptr && !facts.gpu_part.empty() && stand_in.empty())
    builder.note(fmt::format("missing: the GPU {} is left unknown, for no generic part is of its maker; --gpu names it",
                             product_of(gpu)));
  if (known == nullptr && !stand_in.empty()) {
    note_choice(stand_in, fmt::format("the GPU {}", product_of(gpu)), "--gpu", builder);
    return builder.part(stand_in, PartKind::Gpu);
  }
  if (known == nullptr && (gpu.id.size() == kIdSize || !gpu.product.empty())) note_unknown_gpu(gpu, builder);
  return std::nullopt;
}

std::optional<PartId> nic_part(PciFacts const& nic, std::vector<NicFacts> const& ports, HostFacts const& facts,
                               MachineBuilder& builder) {
  bool const soft = std::any_of(ports.begin(), ports.end(), [](NicFacts const& port) { return !port.below.empty(); });
  bool const rdma = std::any_of(ports.begin(), ports.end(), [](NicFacts const& port) { return port.rdma; }) ||
                    (ports.empty() && is_rdma_adapter(nic));
  if (soft) {
    builder.note(fmt::format("{} does RDMA in software: {} over {} ({})", nic.bdf, ports.front().name,
                             ports.front().below, nic.id));
    return builder.part("rxe", PartKind::Nic);
  }
  auto const* known = builder.catalogue().part_by_pci_id(nic.id);
  if (known != nullptr && known->kind == PartKind::Nic) return builder.part(known->name, PartKind::Nic);
  if (!rdma) return builder.part("ethernet-generic", PartKind::Nic);
  if (!facts.nic_part.empty()) {
    note_choice(facts.nic_part, fmt::format("the adapter {}", product_of(nic)), "--nic", builder);
    return builder.part(facts.nic_part, PartKind::Nic);
  }
  return builder.part(builder.part_by_pci_id(nic.id, PartKind::Nic), PartKind::Nic);
}

std::string switch_part(PciFacts const& bridge, HostFacts const& facts, MachineBuilder& builder) {
  auto const* known = builder.catalogue().part_by_pci_id(bridge.id);
  bool const is_known = known != nullptr && known->kind == PartKind::Switch;
  return is_known || facts.switch_part.empty() ? builder.part_by_pci_id(bridge.id, PartKind::Switch)
                                               : facts.switch_part;
}

std::string interface_address(HostFacts const& facts, std::string const& name) {
  for (auto const& nic : facts.nics)
    if (!nic.rdma && nic.name == name) return nic.bdf;
  return {};
}

std::vector<NicFacts> ports_of_nic(HostFacts const& facts, std::string const& slot) {
  std::vector<NicFacts> rdma;
  std::vector<NicFacts> interfaces;
  for (auto const& nic : facts.nics) {
    auto const address = nic.below.empty() ? nic.bdf : interface_address(facts, nic.below);
    if (!address.starts_with(slot) || slot.empty()) continue;
    (nic.rdma ? rdma : interfaces).push_back(nic);
  }
  return rdma.empty() ? interfaces : rdma;
}

}  // namespace lanewise
