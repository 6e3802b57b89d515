#include "core/interop/formats/host_import.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/interop/host/host_machine.hpp"
#include "core/interop/host/merge.hpp"
#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/topo_comparison.hpp"
#include "core/interop/machines/topo_groups.hpp"
#include "core/interop/machines/topo_matrix.hpp"
#include "core/interop/machines/topo_parts.hpp"
#include "core/machine/nvlink_ports.hpp"

namespace lanewise {
namespace {

// What no file tells is taken from the parts that the user names, else from generic ones.
void name_parts(HostFacts& facts, TopoOptions const& options, Catalogue& catalogue) {
  TopoParts const parts(options, catalogue);
  facts.cpu.part = options.cpu;
  facts.cpu.stand_in = parts.cpu();
  if (facts.gpu_part.empty() || !options.gpu.empty()) facts.gpu_part = parts.gpu();
  facts.nic_part = parts.nic();
  facts.switch_part = options.pcie_switch;
}

bool is_table(ForeignFile const& file) { return file.format->name == "topo-m"; }

std::vector<std::size_t> gpus_of(TopoMatrix const& matrix) {
  std::vector<std::size_t> gpus;
  for (std::size_t i = 0; i < matrix.devices.size(); ++i)
    if (matrix.devices[i].gpu) gpus.push_back(i);
  return gpus;
}

// Adds the NVLinks of the table to the host's GPUs, which nvidia-smi numbers in the order of their addresses.
void add_table(TopoMatrix const& matrix, std::string const& file, HostFacts& facts) {
  std::vector<std::string> addresses;
  for (auto const& function : facts.pci)
    if (function.id.starts_with("10de:") ? function.class_code >> 16U == 0x03
                                         : function.id.empty() && function.is_accelerator)
      addresses.push_back(function.bdf);
  std::sort(addresses.begin(), addresses.end());
  auto const gpus = gpus_of(matrix);
  if (addresses.size() != gpus.size()) {
    facts.notes.push_back(fmt::format("contradiction: {} has {} GPUs, the other files {}; its NVLinks are left out",
                                      file, gpus.size(), addresses.size()));
    return;
  }
  facts.lists_nvlinks = true;
  bool const switched = joined_by_switches(matrix, gpus, nullptr);
  auto const n = gpus.size();
  for (std::size_t i = 0; i < n; ++i) {
    auto gpu = std::find_if(facts.nvml.gpus.begin(), facts.nvml.gpus.end(),
                            [&](NvmlGpu const& known) { return known.bdf == addresses[i]; });
    if (gpu == facts.nvml.gpus.end()) {
      facts.nvml.gpus.push_back({});
      gpu = facts.nvml.gpus.end() - 1;
      gpu->bdf = addresses[i];
    }
    if (!gpu->links.empty()) continue;  // another file lists them one by one
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j || (switched && j != (i == 0 ? 1 : 0))) continue;
      for (int k = 0; k < matrix.at(gpus[i], gpus[j]).nvlinks; ++k) {
        NvmlLink link;
        link.number = static_cast<int>(gpu->links.size());
        link.remote = switched ? NvlinkRemote::Switch : NvlinkRemote::Gpu;
        if (!switched) link.remote_bdf = addresses[j];
        gpu->links.push_back(std::move(link));
      }
    }
  }
  if (switched) facts.notes.emplace_back("inferred: NVSwitches, for all pairs of GPUs have the same number of NVLinks");
}

Machine merged(std::vector<ForeignFile> const& files, TopoOptions const& parts, Catalogue& catalogue) {
  std::vector<FactsOfFile> facts;
  std::vector<std::pair<std::string, TopoMatrix>> tables;
  for (auto const& file : files) {
    if (is_table(file))
      tables.emplace_back(file.source.name(), read_topo_matrix(file.source));
    else if (file.format->read_facts != nullptr)
      facts.push_back({file.source.name(), file.format->read_facts(file.source)});
    else
      throw InputError(
          fmt::format("{} is of the format {}, which cannot be merged with other files; these can: lspci, hwloc, nccl, "
                      "nccl-log, nvidia-smi-xml and rocm-topo, and topo-m with one of them",
                      file.source.name(), file.format->name));
  }
  if (facts.empty()) throw InputError("several tables of 'nvidia-smi topo -m' say nothing together; give one");
  auto const name = machine_name_from(facts.front().file);
  auto whole = facts.size() == 1 ? std::move(facts.front().facts) : merge_facts(std::move(facts));
  for (auto const& [file, matrix] : tables) add_table(matrix, file, whole);
  name_parts(whole, parts, catalogue);
  auto machine = machine_of(whole, name, std::nullopt, catalogue);
  refuse_exceeded_ports(machine, "what the files say together");
  for (auto const& [file, matrix] : tables)
    for (auto const& difference : topo_differences(machine, matrix))
      machine.notes.push_back(
          fmt::format("contradiction: {}: {} ({}); the machine is taken", difference.subject, difference.text, file));
  return machine;
}

}  // namespace

Machine import_host(std::vector<ForeignFile> const& files, TopoOptions const& parts, Catalogue& catalogue) {
  if (files.size() > 1) return merged(files, parts, catalogue);
  auto const& file = files.front();
  if (file.format->read != nullptr) return file.format->read(file.source, parts, catalogue);
  auto facts = file.format->read_facts(file.source);
  name_parts(facts, parts, catalogue);
  auto machine = machine_of(facts, machine_name_from(file.source.name()), std::nullopt, catalogue);
  refuse_exceeded_ports(machine, file.source.name());
  return machine;
}

}  // namespace lanewise
