#include "core/interop/machines/nccl/instances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "core/interop/machines/nccl/links.hpp"

namespace lanewise {
namespace {

struct Instance {
  std::string_view mark;  // in the file's name or comments, lower case
  std::string_view gpu;   // part; empty: the catalogue has none
  std::size_t gpus;
  std::string_view name;
};
// Sources. AWS EC2 accelerated computing instances (P4, P5, G5); Azure GPU VM sizes (NDv2, ND A100 v4, NDm A100 v4, ND
// H100 v5, NC A100 v4); Oracle Cloud compute shapes. Longer marks first.
constexpr std::array<Instance, 21> kInstances{{{"p4de", "a100-sxm4-80g", 8, "AWS p4de.24xlarge"},
                                               {"p4d", "a100-sxm4-40g", 8, "AWS p4d.24xlarge"},
                                               {"p5en", "h200-sxm5-141g", 8, "AWS p5en.48xlarge"},
                                               {"p5e", "h200-sxm5-141g", 8, "AWS p5e.48xlarge"},
                                               {"p5.48", "h100-sxm5-80g", 8, "AWS p5.48xlarge"},
                                               {"p5-48", "h100-sxm5-80g", 8, "AWS p5.48xlarge"},
                                               {"p3dn", "v100-sxm2-32g", 8, "AWS p3dn.24xlarge"},
                                               {"g5.48", "", 8, "AWS g5.48xlarge"},
                                               {"g6e.48", "l40s", 8, "AWS g6e.48xlarge"},
                                               {"ndmv4", "a100-sxm4-80g", 8, "Azure NDm A100 v4"},
                                               {"ndm_a100", "a100-sxm4-80g", 8, "Azure NDm A100 v4"},
                                               {"ndv4", "a100-sxm4-40g", 8, "Azure ND A100 v4"},
                                               {"ndv2", "v100-sxm2-32g", 8, "Azure NDv2"},
                                               {"h200_v5", "h200-sxm5-141g", 8, "Azure ND H200 v5"},
                                               {"ndv5", "h100-sxm5-80g", 8, "Azure ND H100 v5"},
                                               {"ncv4", "a100-pcie-80g", 4, "Azure NC A100 v4"},
                                               {"nc48v4", "a100-pcie-80g", 2, "Azure NC A100 v4"},
                                               {"nc96v4", "a100-pcie-80g", 4, "Azure NC A100 v4"},
                                               {"bm.gpu.h100", "h100-sxm5-80g", 8, "OCI BM.GPU.H100.8"},
                                               {"bm.gpu.gm4", "a100-sxm4-80g", 8, "OCI BM.GPU.GM4.8"},
                                               {"bm.gpu4", "a100-sxm4-40g", 8, "OCI BM.GPU4.8"}}};

void for_each(NcclSystem& system, std::function<void(NcclPci&)> const& visit) {
  std::function<void(NcclPci&)> const walk = [&](NcclPci& pci) {
    visit(pci);
    for (auto& child : pci.below) walk(child);
  };
  for (auto& cpu : system.cpus)
    for (auto& pci : cpu.pci) walk(pci);
}

struct Shape {
  std::size_t gpus = 0;
  std::size_t nics = 0;
  int generation = 0;                 // of the GPUs' links
  std::vector<NcclPci*> classless{};  // leaves of which the file gives only an address
};

Shape shape_of(NcclSystem& system) {
  Shape shape;
  for_each(system, [&](NcclPci& pci) {
    if (is_gpu(pci)) {
      ++shape.gpus;
      shape.generation = std::max(shape.generation, pci.generation);
    } else if (!pci.nets.empty() || pci.device_class.value_or(0) >> 16 == 0x02) {
      ++shape.nics;
    } else if (pci.below.empty() && pci.device_class.value_or(0) == 0 && pci.id.empty()) {
      shape.classless.push_back(&pci);
    }
  });
  return shape;
}

void classify(Shape& shape, Instance const& instance, std::vector<std::string>& notes) {
  if (shape.gpus > 0 || shape.classless.size() < instance.gpus) return;
  for (std::size_t i = 0; i < shape.classless.size(); ++i)
    shape.classless[i]->device_class = i < instance.gpus ? 0x030200 : 0x020000;
  notes.push_back(fmt::format(
      "inferred: of the {} devices without a class the first {} are GPUs, the rest NICs, for {} has so many",
      shape.classless.size(), instance.gpus, instance.name));
}

// Eight GPUs with a NIC each are NVIDIA's eight-GPU board in servers for training.
std::string part_by_shape(Shape const& shape, std::vector<std::string>& notes) {
  if (shape.gpus != 8 || shape.nics < 8) return {};
  std::string const part = shape.generation == 4 ? "a100-sxm4-80g" : shape.generation == 5 ? "h100-sxm5-80g" : "";
  if (!part.empty())
    notes.push_back(
        fmt::format("inferred: '{}', for the file has eight GPUs of PCIe gen{} and a NIC for each, as servers "
                    "with NVIDIA's eight-GPU board have; --gpu names another",
                    part, shape.generation));
  return part;
}

}  // namespace

bool is_static(NcclSystem const& system) {
  std::function<bool(NcclPci const&)> const has_gpu_element = [&](NcclPci const& pci) {
    return pci.gpu || std::any_of(pci.below.begin(), pci.below.end(), has_gpu_element);
  };
  return std::none_of(system.cpus.begin(), system.cpus.end(),
                      [&](NcclCpu const& cpu) { return std::any_of(cpu.pci.begin(), cpu.pci.end(), has_gpu_element); });
}

std::string static_gpu_part(NcclSystem& system, std::vector<std::string>& notes) {
  auto shape = shape_of(system);
  auto const* const instance = std::find_if(kInstances.begin(), kInstances.end(), [&](Instance const& row) {
    return system.preamble.find(row.mark) != std::string::npos;
  });
  if (instance == kInstances.end()) return part_by_shape(shape, notes);
  classify(shape, *instance, notes);
  if (instance->gpu.empty()) {
    notes.push_back(fmt::format("the file is of {}, whose GPUs the catalogue does not have", instance->name));
    return {};
  }
  notes.push_back(
      fmt::format("inferred: GPUs '{}', for the file names {}; --gpu names others", instance->gpu, instance->name));
  return std::string(instance->gpu);
}

}  // namespace lanewise
