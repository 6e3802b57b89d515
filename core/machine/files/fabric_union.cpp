#include "core/machine/files/fabric_union.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace lanewise {

void sort_by_tier(Fabric& fabric) {
  auto const count = fabric.switches.size();
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return fabric.switches[a].tier < fabric.switches[b].tier; });
  std::vector<std::uint32_t> number(count);
  std::vector<Fabric::Switch> switches;
  for (std::size_t i = 0; i < count; ++i) {
    number[order[i]] = static_cast<std::uint32_t>(i);
    switches.push_back(fabric.switches[order[i]]);
  }
  fabric.switches = std::move(switches);
  for (auto& attachment : fabric.attachments) attachment.at = number[attachment.at];
  for (auto& trunk : fabric.trunks) {
    auto const [lower, upper] = std::minmax({number[trunk.lower], number[trunk.upper]});
    std::tie(trunk.lower, trunk.upper) = std::pair(lower, upper);
  }
}

void append(Fabric& to, Fabric other) {
  auto const networks = static_cast<std::uint32_t>(to.networks.size());
  auto const switches = static_cast<std::uint32_t>(to.switches.size());
  for (auto& one : other.switches) {
    one.name = other.networks[one.network].name + "/" + one.name;
    one.network += networks;
    to.switches.push_back(std::move(one));
  }
  for (auto trunk : other.trunks) {
    trunk.lower += switches;
    trunk.upper += switches;
    to.trunks.push_back(trunk);
  }
  for (auto attachment : other.attachments) {
    attachment.at += switches;
    to.attachments.push_back(attachment);
  }
  to.networks.insert(to.networks.end(), other.networks.begin(), other.networks.end());
  sort_by_tier(to);
  std::stable_sort(to.attachments.begin(), to.attachments.end(),
                   [](auto const& a, auto const& b) { return a.nic < b.nic; });
}

}  // namespace lanewise
