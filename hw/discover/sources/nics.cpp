// Network interfaces and RDMA devices, from sysfs.
#include <fmt/format.h>

#include <algorithm>

#include "hw/discover/sources/sources.hpp"

namespace lanewise::hw {
namespace fs = std::filesystem;
namespace {

constexpr double kBytesPerMegabit = 1e6 / 8;
constexpr long long kMaxMegabits = 10'000'000;  // 10 Tb/s: a larger value is not a real rate

std::optional<BytesPerSecond> rate_of(long long megabits) {
  if (megabits <= 0 || megabits > kMaxMegabits) return std::nullopt;
  return BytesPerSecond(static_cast<double>(megabits) * kBytesPerMegabit);
}

// "200 Gb/sec (4X HDR)", "2.5 Gb/sec (1X SDR)": Linux drivers/infiniband/core/sysfs.c.
std::optional<BytesPerSecond> port_rate(std::string const& text) {
  auto const unit = text.find(" Gb/sec");
  if (unit == std::string::npos) return std::nullopt;
  return parse_rate(text.substr(0, unit) + " Gb/s").value;
}

NicFacts rdma_device(Sysfs const& sysfs, std::string const& name) {
  NicFacts nic;
  nic.name = name;
  nic.rdma = true;
  auto const folder = fs::path("class/infiniband") / name;
  if (auto const link = sysfs.link(folder)) nic.bdf = last_pci_address(*link);
  // drivers/infiniband/sw/rxe/rxe_verbs.c: the attribute `parent` names the interface below.
  nic.below = sysfs.text(folder / "parent").value_or("");
  if (!nic.below.empty()) nic.bdf.clear();
  nic.guid = sysfs.text(folder / "node_guid").value_or("");
  nic.firmware = sysfs.text(folder / "fw_ver").value_or("");
  for (auto const& port : sysfs.names(folder / "ports")) {
    auto const at = folder / "ports" / port;
    nic.link_layer = sysfs.text(at / "link_layer").value_or(nic.link_layer);
    // "4: ACTIVE"
    if (!sysfs.text(at / "state").value_or("").starts_with("4:")) continue;
    nic.up = true;
    if (auto const rate = port_rate(sysfs.text(at / "rate").value_or("")))
      nic.rate = nic.rate.value_or(BytesPerSecond(0)) + *rate;
  }
  return nic;
}

std::optional<NicFacts> interface(Sysfs const& sysfs, std::string const& name) {
  NicFacts nic;
  nic.name = name;
  auto const folder = fs::path("class/net") / name;
  auto const link = sysfs.link(folder);
  if (!link) return std::nullopt;  // a file such as bonding_masters
  nic.bdf = last_pci_address(*link);
  nic.link_layer = sysfs.number(folder / "type") == 32 ? "InfiniBand" : "Ethernet";  // ARPHRD_INFINIBAND
  nic.up = sysfs.text(folder / "operstate") == "up" || sysfs.number(folder / "carrier") == 1;
  nic.rate = rate_of(sysfs.number(folder / "speed").value_or(0));
  return nic;
}

}  // namespace

void read_nics(Sysfs const& sysfs, HostFacts& facts) {
  for (auto const& name : sysfs.names("class/infiniband")) facts.nics.push_back(rdma_device(sysfs, name));
  for (auto const& name : sysfs.names("class/net"))
    if (auto nic = interface(sysfs, name)) facts.nics.push_back(std::move(*nic));
}

}  // namespace lanewise::hw
