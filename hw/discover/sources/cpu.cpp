// Sockets, NUMA nodes and the processor's name, from sysfs and /proc/cpuinfo.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "hw/discover/sources/sources.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::hw {
namespace fs = std::filesystem;
namespace {

// "model name\t: AMD EPYC 7763": the first value of each key, for all cores are alike.
std::map<std::string, std::string> cpuinfo_of(std::string const& text) {
  std::map<std::string, std::string> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto const colon = line.find(':');
    if (colon == std::string::npos) continue;
    auto const key_end = line.find_last_not_of(" \t", colon == 0 ? 0 : colon - 1);
    auto const value = line.find_first_not_of(" \t", colon + 1);
    if (key_end == std::string::npos) continue;
    values.emplace(line.substr(0, key_end + 1), value == std::string::npos ? "" : line.substr(value));
  }
  return values;
}

void read_cpuinfo(Sysfs const& sysfs, HostFacts& facts) {
  auto const text = sysfs.proc("cpuinfo");
  if (!text) {
    facts.notes.emplace_back("/proc/cpuinfo cannot be read: the CPU is not known");
    return;
  }
  auto values = cpuinfo_of(*text);
  auto const number = [&](char const* key) { return whole_number(values[key]); };
  // Linux arch/x86/kernel/cpu/proc.c prints the display family and model.
  if (auto const family = number("cpu family"), model = number("model"); family && model)
    facts.cpu.cpuid = fmt::format("{}/{}/{}", values["vendor_id"], *family, *model);
  facts.cpu.model_name = values.contains("model name") ? values["model name"] : values["cpu"];
  auto const flags = " " + values["flags"] + " ";
  facts.cpu.hypervisor = flags.find(" hypervisor ") != std::string::npos;
}

int package_of(Sysfs const& sysfs, int core) {
  auto const said = sysfs.number(fmt::format("devices/system/cpu/cpu{}/topology/physical_package_id", core));
  constexpr long long kMaxPackages = 4096;
  return said && *said >= 0 && *said < kMaxPackages ? static_cast<int>(*said) : 0;
}

std::vector<int> packages_of(Sysfs const& sysfs, std::string const& cores) {
  std::set<int> packages;
  for (auto const core : numbers_of_list(cores)) packages.insert(package_of(sysfs, core));
  return {packages.begin(), packages.end()};
}

}  // namespace

void read_cpu(Sysfs const& sysfs, HostFacts& facts) {
  read_cpuinfo(sysfs, facts);
  int without_cores = 0;
  for (auto const& name : sysfs.names("devices/system/node")) {
    if (!name.starts_with("node")) continue;
    auto const node = whole_number(name.substr(4));
    if (!node || *node < 0 || *node > 4096) continue;
    NumaFacts numa{
        static_cast<int>(*node), sysfs.text(fs::path("devices/system/node") / name / "cpulist").value_or(""), {}};
    if (!numa.cores.empty() && numbers_of_list(numa.cores).empty()) {
      facts.notes.push_back(fmt::format("the cores of NUMA node {} are no list of numbers; left out", numa.node));
      numa.cores.clear();
    }
    numa.packages = packages_of(sysfs, numa.cores);
    if (numa.packages.empty())
      ++without_cores;
    else
      facts.cpu.nodes.push_back(std::move(numa));
  }
  std::sort(facts.cpu.nodes.begin(), facts.cpu.nodes.end(),
            [](NumaFacts const& a, NumaFacts const& b) { return a.node < b.node; });
  if (without_cores > 0)
    facts.notes.push_back(
        fmt::format("{} NUMA nodes without cores (memory of a GPU or an expander) are left out", without_cores));
  if (!facts.cpu.nodes.empty()) return;
  // A kernel without NUMA lists its cores only as a whole.
  auto cores = sysfs.text("devices/system/cpu/online").value_or("");
  if (numbers_of_list(cores).empty()) cores.clear();
  facts.notes.emplace_back("the system lists no NUMA nodes with cores; taken for one node");
  facts.cpu.nodes.push_back({0, std::move(cores), {0}});
}

}  // namespace lanewise::hw
