#include "hw/discover/discovery.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/interop/host/stand_ins.hpp"
#include "core/interop/machines/machine_builder.hpp"
#include "hw/discover/sources/sources.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

HostFacts read_facts(DiscoverOptions const& options) {
  Sysfs const sysfs(options.sysfs);
  bool const live = options.sysfs == "/sys";
  if (sysfs.names("").empty())
    throw InputError(fmt::format("{}: no folder that could be read; a root of sysfs has bus, class and devices in it",
                                 options.sysfs.string()));
  HostFacts facts;
  std::optional<CudaSource> cuda;
  if (live) {
    cuda.emplace();
    if (options.wake) cuda->wake(facts.notes);
    facts.cuda = cuda->read();
    facts.nvml = read_nvml();
    facts.verbs = read_verbs();
  }
  read_cpu(sysfs, facts);
  read_platform(sysfs, live, facts);
  read_pci(sysfs, facts);
  read_nics(sysfs, facts);
  read_block_devices(sysfs, facts);
  if (live)
    for (auto& nic : facts.nics)
      if (nic.rdma)
        nic.in_verbs =
            std::find(facts.verbs.devices.begin(), facts.verbs.devices.end(), nic.name) != facts.verbs.devices.end();
  return facts;
}

std::string name_of_host(DiscoverOptions const& options) {
  if (!options.name.empty()) return options.name;
  auto const said = Sysfs(options.sysfs).proc("sys/kernel/hostname").value_or("");
  auto const name = machine_name_from(said.substr(0, said.find('.')));
  return name == "imported" ? "discovered" : name;
}

}  // namespace

Discovery discover(DiscoverOptions const& options, Catalogue& catalogue) {
  Discovery found;
  found.facts = read_facts(options);
  auto roles = options.roles;
  if (auto const why = roles && !options.found_roles.empty() ? misfit_of_roles(roles->roles, found.facts) : "";
      !why.empty()) {
    found.facts.notes.push_back(
        fmt::format("the roles file {} is of another machine ({}) and not used", options.found_roles, why));
    roles.reset();
  }
  found.machine = machine_of(found.facts, name_of_host(options), roles, catalogue);
  found.roles = std::move(roles);
  found.findings = findings_of(found.machine, found.facts);
  if (options.against)
    for (auto& finding : findings_against(found.machine, *options.against))
      found.findings.push_back(std::move(finding));
  return found;
}

}  // namespace lanewise::hw
