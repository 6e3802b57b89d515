#include "core/interop/machines/nccl/numa_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

namespace lanewise {
namespace {

struct Range {
  int first = 0, last = 0;
  [[nodiscard]] int size() const { return last - first + 1; }
};

// "0-15,128-143", as core_list() writes it.
std::vector<Range> ranges_of(std::string const& cores) {
  std::vector<Range> ranges;
  auto const* at = cores.data();
  auto const* const end = at + cores.size();
  while (at < end) {
    Range range;
    at = std::from_chars(at, end, range.first).ptr;
    range.last = range.first;
    if (at < end && *at == '-') at = std::from_chars(at + 1, end, range.last).ptr;
    ranges.push_back(range);
    if (at == end || *at != ',') break;
    ++at;
  }
  return ranges;
}

struct Cores {
  int node = 0;            // of one node
  std::optional<int> all;  // of all sockets, where second threads show it
};
// nullopt where nodes differ, or have other masks than Linux gives nodes of equal size.
std::optional<Cores> cores_of(NcclSystem const& system) {
  std::optional<Cores> found;
  for (auto const& cpu : system.cpus) {
    auto const ranges = ranges_of(cpu.cores);
    if (ranges.empty() || ranges.size() > 2) return std::nullopt;
    Cores cores{ranges[0].size(), std::nullopt};
    if (ranges.size() == 2) {
      if (ranges[1].size() != ranges[0].size()) return std::nullopt;
      cores.all = ranges[1].first - ranges[0].first;
    }
    if (found && (found->node != cores.node || found->all != cores.all)) return std::nullopt;
    found = cores;
  }
  return found;
}

// The number of NUMA nodes of the host; those without a GPU or NIC are not in the file.
int count_nodes(NcclSystem const& system, std::optional<Cores> const& cores) {
  int highest = 0;
  for (auto const& cpu : system.cpus) highest = std::max(highest, cpu.numa);
  auto const by_cores = cores && cores->all && *cores->all % cores->node == 0 ? *cores->all / cores->node : 0;
  return std::max(highest + 1, by_cores);
}

std::optional<int> sockets_by_cores(NcclSystem const& system, Part const* cpu, std::optional<Cores> const& cores,
                                    int nodes) {
  if (cpu == nullptr || !cpu->cpu.cores || !cores) return std::nullopt;
  bool const complete = static_cast<int>(system.cpus.size()) == nodes;
  if (!cores->all && !complete) return std::nullopt;
  auto const all = static_cast<double>(cores->all.value_or(cores->node * nodes));
  return std::max(1, static_cast<int>(std::lround(all / *cpu->cpu.cores)));
}

}  // namespace

NumaDivision numa_division(NcclSystem const& system, Part const* cpu) {
  auto const cores = cores_of(system);
  auto const nodes = count_nodes(system, cores);
  constexpr int kMaxNodes = 64;
  if (nodes < 2 || nodes > kMaxNodes) return {};
  auto const& cpuid = system.cpus.front().cpuid;
  if (auto const sockets = sockets_by_cores(system, cpu, cores, nodes); sockets && nodes % *sockets == 0)
    return {nodes / *sockets, fmt::format("'{}' has {} cores, and the affinity of the nodes shows {} sockets",
                                          cpu->name, *cpu->cpu.cores, *sockets)};
  if (!cpuid.starts_with("AuthenticAMD/")) return {};
  constexpr int kNodesOfNaples = 4;
  if (cpuid == "AuthenticAMD/23/1") return {kNodesOfNaples, "EPYC 7001 has four NUMA nodes a socket"};
  if (nodes < 3) return {};
  auto const all = static_cast<int>(std::bit_ceil(static_cast<unsigned>(nodes)));
  return {all / 2, fmt::format("{} nodes of EPYC are two sockets, which its firmware divides (NPS)", nodes)};
}

}  // namespace lanewise
