#include "core/interop/machines/product_links.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise {
namespace {

// Hybrid cube mesh of eight SXM2 GPUs in DGX-1 (NVIDIA DGX-1 with Tesla V100 white paper; nvidia-smi topo -m of such).
std::vector<ProductLinks::Pair> cube_mesh() {
  return {{0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
          {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
}

// The part of all GPUs; nullptr where they differ or are not known.
Part const* common_part(std::vector<PciId> const& gpus, Machine const& machine) {
  auto const* first = gpus.empty() ? nullptr : machine.part_of(gpus.front());
  bool const same = first != nullptr && std::all_of(gpus.begin(), gpus.end(), [&](PciId gpu) {
                      auto const* part = machine.part_of(gpu);
                      return part != nullptr && part->name == first->name;
                    });
  return same ? first : nullptr;
}

}  // namespace

ProductLinks product_links(Part const& gpu, std::size_t gpus) {
  ProductLinks links;
  // Cards are joined by bridges, or not at all; only modules always have their links.
  bool const module = gpu.name.find("-sxm") != std::string::npos;
  auto const ports = gpu.gpu.nvlink_ports;
  if (!module || ports == 0 || gpus < 2) return links;
  bool const has_nvswitch = gpu.gpu.nvlink_generation >= 3 || gpu.name.find("-sxm3") != std::string::npos;
  if (gpus == 4) {  // boards of four link every pair directly: NVIDIA HGX A100 and HGX H100 4-GPU, HGX-1 of four V100
    for (std::size_t a = 0; a < gpus; ++a)
      for (std::size_t b = a + 1; b < gpus; ++b) links.pairs.push_back({a, b, ports / 3});
  } else if (has_nvswitch) {
    links.to_switch = ports;
  } else if (gpus == 8 && gpu.gpu.nvlink_generation == 2) {
    links.pairs = cube_mesh();
  }
  return links;
}

void add_product_links(std::vector<PciId> const& gpus, MachineBuilder& builder) {
  auto const& machine = builder.machine();
  if (!machine.nvlinks.empty() || !machine.nvswitches.empty()) return;
  auto const* part = common_part(gpus, machine);
  if (part == nullptr || part->gpu.nvlink_ports == 0) return;
  auto const product = *part;  // copied: entering the links' parts may move it
  auto const links = product_links(product, gpus.size());
  auto const why = fmt::format("{} lists no NVLink; --gpu names another product", builder.source());
  if (links.to_switch > 0) {
    std::vector<NvSwitch::Port> ports;
    for (auto const gpu : gpus) ports.push_back({gpu, links.to_switch});
    builder.add_nvswitch(product.gpu.nvlink_generation, std::move(ports));
    builder.note(fmt::format("inferred: {} NVLinks of each GPU to NVSwitches, as '{}' has them; {}", links.to_switch,
                             product.name, why));
  }
  for (auto const& pair : links.pairs)
    builder.add_nvlink(gpus[pair.a], gpus[pair.b], builder.nvlink_part(product.gpu.nvlink_generation, product.gpu.chip),
                       pair.count);
  if (!links.pairs.empty())
    builder.note(
        fmt::format("inferred: NVLinks between {} pairs, as boards of {} '{}' have them, whose GPUs may be "
                    "numbered otherwise; {}",
                    links.pairs.size(), gpus.size(), product.name, why));
  if (links.to_switch == 0 && links.pairs.empty() && gpus.size() > 1)
    builder.note(fmt::format("{} lists no NVLink, and whether bridges join its '{}' is not known; 'nvlinks' gives them",
                             builder.source(), product.name));
}

}  // namespace lanewise
