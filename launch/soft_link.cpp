#include "launch/soft_link.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "process/process.hpp"

namespace lanewise::launch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr char kAdded[] = "lanewise_rxe";
constexpr auto kLimit = 20s;

std::vector<std::string> devices_here() {
  std::vector<std::string> names;
  std::error_code none;
  for (auto const& entry : fs::directory_iterator("/sys/class/infiniband", none))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// A network interface that is up and has an IPv4 address, which a RoCE v2 address is made of.
std::optional<std::string> interface_with_address() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return std::nullopt;
  std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> const owner(list, freeifaddrs);
  for (auto const* entry = list; entry != nullptr; entry = entry->ifa_next) {
    bool const usable = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0;
    if (usable && entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_INET) return entry->ifa_name;
  }
  return std::nullopt;
}

// Soft-RoCE's part of the kernel, loaded if it was not.
bool has_module() {
  if (fs::exists("/sys/module/rdma_rxe")) return true;
  return find_program("modprobe") && run_program({"modprobe", "rdma_rxe"}, kLimit).code == 0;
}

// Empty when the device is there now, else why it is not.
std::string add_device() {
  std::string const none = "this host has no RDMA device";
  if (geteuid() != 0) return none + ", and only root may add Soft-RoCE";
  if (!find_program("rdma")) return none + ", and not the package iproute2, which would add Soft-RoCE";
  auto const interface = interface_with_address();
  if (!interface) return none + ", and no network interface that is up for Soft-RoCE";
  if (!has_module()) return none + ", and its kernel has no module rdma_rxe (Ubuntu: linux-modules-extra)";
  auto const added = run_program({"rdma", "link", "add", kAdded, "type", "rxe", "netdev", *interface}, kLimit);
  return added.code == 0 ? "" : fmt::format("{}, and Soft-RoCE on {} fails: {}", none, *interface, added.output);
}

}  // namespace

SoftLink SoftLink::find_or_add() {
  SoftLink link;
  link.devices_ = devices_here();
  if (!link.devices_.empty()) return link;
  link.why_not_ = add_device();
  if (!link.why_not_.empty()) return link;
  link.added_ = true;
  link.devices_ = {kAdded};
  return link;
}

SoftLink::SoftLink(SoftLink&& other) noexcept
    : devices_(std::move(other.devices_)),
      why_not_(std::move(other.why_not_)),
      added_(std::exchange(other.added_, false)) {}

SoftLink::~SoftLink() {
  if (!added_) return;
  try {
    run_program({"rdma", "link", "delete", kAdded}, kLimit);
  } catch (std::exception const& error) {
    fmt::print(stderr, "lanewise check: the RDMA device {} is left behind: {}\n", kAdded, error.what());
  }
}

}  // namespace lanewise::launch
