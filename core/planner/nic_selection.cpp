#include "core/planner/nic_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/machine/fabric_ways.hpp"
#include "core/machine/nvlink_bundles.hpp"
#include "core/machine/nvlink_domains.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {

namespace {

PciId nic_named(Machine const& machine, Place const& place, std::string const& name) {
  auto const found = machine.place(name);
  auto const* nic = std::get_if<PciId>(&found);
  if (nic == nullptr || machine.at(*nic).kind != PciKind::Nic)
    throw InputError(fmt::format("'nics': '{}' is no NIC", name));
  if (machine.host_of(*nic) != machine.host_of(place))
    throw InputError(fmt::format("'nics': '{}' is not in the node of '{}'", name, machine.name_of(place)));
  return *nic;
}

}  // namespace

std::pair<PciId, PciId> named_nics(Machine const& machine, Place const& from, Place const& to,
                                   std::string const& nic_from, std::string const& nic_to) {
  if (machine.host_of(from) == machine.host_of(to))
    throw InputError(fmt::format("'nics' is of transfers between nodes; '{}' and '{}' are in one",
                                 machine.name_of(from), machine.name_of(to)));
  return {nic_named(machine, from, nic_from), nic_named(machine, to, nic_to)};
}

std::optional<PciId> NicSelection::relay_for(PciId gpu, PciId nic) const {
  std::optional<PciId> best;
  auto nearest = path_class(machine_, gpu, nic);
  if (nearest <= PathClass::Pix) return best;
  auto const host = machine_.host_of(gpu);
  auto const consider = [&](PciId other) {
    if (other == gpu || machine_.host_of(other) != host || machine_.is_off(other)) return;
    auto const distance = path_class(machine_, other, nic);
    if (distance >= nearest || !has_nvlink(machine_, gpu, other)) return;
    nearest = distance;
    best = other;
  };
  for (auto const& domain : machine_.nvswitches) {
    if (links_of(machine_, domain, gpu) == 0) continue;
    // Ports are in the order of GPUs, and a node's GPUs follow one another.
    auto port = std::lower_bound(
        domain.ports.begin(), domain.ports.end(), host,
        [&](NvSwitch::Port const& each, HostId wanted) { return machine_.host_of(each.gpu) < wanted; });
    for (; port != domain.ports.end() && machine_.host_of(port->gpu) == host; ++port) consider(port->gpu);
  }
  for (auto const& bundle : bundles_of(machine_, host)) {
    auto const* a = std::get_if<PciId>(&bundle.a);
    auto const* b = std::get_if<PciId>(&bundle.b);
    if (a == nullptr || b == nullptr) continue;
    if (*a == gpu) consider(*b);
    if (*b == gpu) consider(*a);
  }
  return best;
}

// The NICs of a place's node that work and are on a network, nearest first.
std::vector<NicSelection::RailNic> NicSelection::nics_of(Place const& place, std::uint32_t network) const {
  std::vector<RailNic> nics;
  auto const host = machine_.host_of(place);
  auto const& all = machine_.fabric->attachments;
  auto const first = std::lower_bound(all.begin(), all.end(), host, [&](auto const& attachment, HostId wanted) {
    return machine_.host_of(attachment.nic) < wanted;
  });
  auto const* device = std::get_if<PciId>(&place);
  for (auto it = first; it != all.end() && machine_.host_of(it->nic) == host; ++it) {
    if (machine_.is_off(it->nic) || (it != first && std::prev(it)->nic == it->nic)) continue;
    if (machine_.fabric->switches[it->at].network != network) continue;
    auto const distance = device != nullptr ? path_class(machine_, *device, it->nic)
                                            : path_class(machine_, it->nic, std::get<NumaId>(place));
    nics.push_back({it->nic, distance, machine_.at(it->nic).rail});
  }
  std::stable_sort(nics.begin(), nics.end(),
                   [](RailNic const& a, RailNic const& b) { return a.distance < b.distance; });
  if (device != nullptr && !nics.empty()) rotate_nearest(*device, nics);
  return nics;
}

// GPUs with the same nearest NICs each get another of these first, so that together they use all: the k-th GPU of a
// switch gets its k-th NIC.
void NicSelection::rotate_nearest(PciId gpu, std::vector<RailNic>& nics) const {
  auto const further =
      std::find_if(nics.begin(), nics.end(), [&](RailNic const& nic) { return nic.distance != nics.front().distance; });
  if (auto const nearest = further - nics.begin(); nearest > 1)
    std::rotate(nics.begin(), nics.begin() + gpus_before(gpu, nics.front(), nics) % nearest, further);
}

// The number of GPUs before this one in its node for which the NIC is one of the nearest, at the same distance.
std::ptrdiff_t NicSelection::gpus_before(PciId gpu, RailNic const& nic, std::vector<RailNic> const& nics) const {
  std::ptrdiff_t count = 0;
  for (auto at = index(gpu); at-- > 0 && machine_.host_of(PciId(at)) == machine_.host_of(gpu);) {
    auto const other = PciId(at);
    if (machine_.at(other).kind != PciKind::Gpu || path_class(machine_, other, nic.nic) != nic.distance) continue;
    // Nothing is nearer than below the same switch.
    if (nic.distance <= PathClass::Pxb || !has_nearer(other, nic, nics)) ++count;
  }
  return count;
}

bool NicSelection::has_nearer(PciId gpu, RailNic const& than, std::vector<RailNic> const& nics) const {
  return std::any_of(nics.begin(), nics.end(),
                     [&](RailNic const& nic) { return path_class(machine_, gpu, nic.nic) < than.distance; });
}

std::optional<std::vector<std::pair<PciId, PciId>>> NicSelection::nic_pairs(Place const& from, Place const& to) const {
  if (!machine_.fabric) return std::nullopt;
  bool share_one = false;
  for (std::uint32_t network = 0; network < machine_.fabric->networks.size(); ++network) {
    auto const sources = nics_of(from, network);
    auto const targets = nics_of(to, network);
    if (sources.empty() || targets.empty()) continue;
    share_one = true;
    if (auto pairs = pairs_of(sources, targets); !pairs.empty()) return pairs;
  }
  return share_one ? std::optional(std::vector<std::pair<PciId, PciId>>()) : std::nullopt;
}

std::vector<std::pair<PciId, PciId>> NicSelection::pairs_of(std::vector<RailNic> const& sources,
                                                            std::vector<RailNic> const& targets) const {
  constexpr std::size_t kMaxPairs = 4;
  std::vector<std::pair<PciId, PciId>> pairs;
  auto const same_rail = [](std::vector<RailNic> const& nics, RailNic const& as) -> RailNic const* {
    auto const found = std::find_if(nics.begin(), nics.end(), [&](RailNic const& nic) { return nic.rail == as.rail; });
    return found != nics.end() ? &*found : nullptr;
  };
  auto const propose = [&](RailNic const* a, RailNic const* b) {
    if (a == nullptr || b == nullptr || !are_joined(machine_, a->nic, b->nic)) return;
    std::pair const pair(a->nic, b->nic);
    if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) pairs.push_back(pair);
  };
  for (auto const& source : sources) {
    if (source.distance != sources.front().distance) break;
    auto const* target = same_rail(targets, source);
    if (target != nullptr && target->distance == targets.front().distance) propose(&source, target);
  }
  propose(&sources.front(), same_rail(targets, sources.front()));
  propose(same_rail(sources, targets.front()), &targets.front());
  propose(&sources.front(), &targets.front());
  if (pairs.size() > kMaxPairs) pairs.resize(kMaxPairs);
  return pairs;
}

}  // namespace lanewise
