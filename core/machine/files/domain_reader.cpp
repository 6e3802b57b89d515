#include "core/machine/files/domain_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/machine/files/key_values.hpp"
#include "core/machine/node_kinds.hpp"
#include "core/machine/nvlink_domains.hpp"
#include "core/machine/nvlink_ports.hpp"

namespace lanewise {

void DomainReader::read() {
  NvSwitch domain;
  domain.name = reader_.text("domain").value_or("");
  domain.host.reset();
  auto const is_taken = [&](auto const& other) { return other.name == domain.name; };
  if (std::any_of(cluster_.nvswitches.begin(), cluster_.nvswitches.end(), is_taken) ||
      std::any_of(cluster_.hosts.begin(), cluster_.hosts.end(), is_taken))
    return reader_.fail(*reader_.node("domain"), fmt::format("the name '{}' is already used", domain.name));
  auto const switch_name = reader_.text("switch_part");
  auto const switch_part =
      switch_name ? parts_.enter(cluster_, reader_, *reader_.node("switch_part"), *switch_name, PartKind::NvSwitch)
                  : std::nullopt;
  auto const link = link_part();
  auto const count = positive_count(reader_, "count");
  domain.chips = reader_.count("chips").value_or(0);
  for (auto const gpu : gpus()) domain.ports.push_back({gpu, count.value_or(0)});
  if (!switch_part || !link || domain.ports.empty()) return;
  domain.part = *switch_part;
  domain.link_part = *link;
  check_ports(domain);
  take_in_crossbars(domain);
  cluster_.nvswitches.push_back(std::move(domain));
  for (auto const& [gpu, links] : exceeded_nvlink_ports(cluster_)) {
    auto const* part = cluster_.part_of(gpu);
    return reader_.fail_at_key("count", fmt::format("'{}' has {} NVLinks with these, but its part '{}' has {} ports",
                                                    cluster_.at(gpu).name, links, part->name, part->gpu.nvlink_ports));
  }
}

std::optional<PartId> DomainReader::link_part() {
  if (auto const name = reader_.text("part"))
    return parts_.enter(cluster_, reader_, *reader_.node("part"), *name, PartKind::Link);
  auto const generation = reader_.count("generation");
  if (!generation) {
    reader_.fail(reader_.self(), "a domain needs 'generation: 1..5' or 'part: NAME', its links");
    return std::nullopt;
  }
  return parts_.enter(cluster_, reader_, *reader_.node("generation"), fmt::format("nvlink-{}", *generation),
                      PartKind::Link);
}

std::set<HostId> DomainReader::nodes() {
  std::set<HostId> found;
  for (auto const& name : expanded_names(reader_, "nodes")) {
    auto const known =
        std::find_if(cluster_.hosts.begin(), cluster_.hosts.end(), [&](Host const& host) { return host.name == name; });
    if (known == cluster_.hosts.end()) {
      reader_.fail(*reader_.node("nodes"),
                   fmt::format("no node is called '{}'; there are node0 to node{}", name, cluster_.hosts.size() - 1));
      return {};
    }
    found.insert(HostId(known - cluster_.hosts.begin()));
  }
  if (!reader_.has("nodes"))
    for (std::size_t i = 0; i < cluster_.hosts.size(); ++i) found.insert(HostId(i));
  return found;
}

std::vector<PciId> DomainReader::gpus() {
  auto const on = nodes();
  auto const wanted = expanded_names(reader_, "gpus");
  std::set<std::string> unknown(wanted.begin(), wanted.end());
  std::vector<PciId> found;
  for (auto const gpu : cluster_.all(PciKind::Gpu)) {
    if (!on.contains(cluster_.host_of(gpu))) continue;
    std::string const name(short_name(cluster_.at(gpu).name));
    unknown.erase(name);
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    for (auto const& domain : cluster_.nvswitches) {
      if (domain.host || links_of(cluster_, domain, gpu) == 0) continue;
      reader_.fail(reader_.self(),
                   fmt::format("'{}' is already in the domain '{}'", cluster_.at(gpu).name, domain.name));
      return {};
    }
    found.push_back(gpu);
  }
  for (auto const& name : unknown)
    reader_.fail(*reader_.node("gpus"), fmt::format("no node of this domain has a GPU called '{}'", name));
  if (found.empty() && unknown.empty() && !on.empty()) reader_.fail(reader_.self(), "no node of this domain has a GPU");
  return found;
}

// A node's file may show its share of the domain as a crossbar of its own: those links are these.
void DomainReader::take_in_crossbars(NvSwitch const& domain) {
  std::erase_if(cluster_.nvswitches, [&](NvSwitch const& known) {
    return known.host && known.link_part == domain.link_part &&
           std::all_of(known.ports.begin(), known.ports.end(),
                       [&](NvSwitch::Port const& port) { return links_of(cluster_, domain, port.gpu) > 0; });
  });
}

void DomainReader::check_ports(NvSwitch const& domain) {
  auto const& part = cluster_.at(domain.part);
  if (domain.chips == 0 || !part.hop.ports) return;
  long links = 0;
  for (auto const& port : domain.ports) links += port.count;
  auto const there = static_cast<long>(domain.chips) * *part.hop.ports;
  if (links > there)
    reader_.fail_at_key("chips",
                        fmt::format("{} GPUs with {} links each take {} ports; {} of '{}' have {}", domain.ports.size(),
                                    domain.ports.front().count, links, domain.chips, part.name, there));
}

}  // namespace lanewise
