#include "launch/rdma_devices.hpp"

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

constexpr char kAddedDevice[] = "lanewise_rxe";
constexpr auto kCommandLimit = 20s;

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  std::error_code none;
  for (auto const& entry : fs::directory_iterator("/sys/class/infiniband", none))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// A network interface that is up and has an IPv4 address: RoCE v2 derives its address (GID) from that.
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

// Whether the kernel has Soft-RoCE; loads the module when it is not loaded yet.
bool load_module() {
  if (fs::exists("/sys/module/rdma_rxe")) return true;
  return find_program("modprobe") && run_program({"modprobe", "rdma_rxe"}, kCommandLimit).code == 0;
}

// Adds a Soft-RoCE device. Returns why that did not work; empty when it did.
std::string add_device() {
  std::string const none = "this host has no RDMA device";
  if (geteuid() != 0) return none + ", and only root can add Soft-RoCE";
  if (!find_program("rdma")) return none + ", and adding Soft-RoCE needs the program rdma (package iproute2)";
  auto const interface = interface_with_address();
  if (!interface) return none + ", and no network interface with an IPv4 address is up for Soft-RoCE";
  if (!load_module()) return none + ", and its kernel has no module rdma_rxe (Ubuntu: linux-modules-extra)";
  auto const added =
      run_program({"rdma", "link", "add", kAddedDevice, "type", "rxe", "netdev", *interface}, kCommandLimit);
  return added.code == 0 ? "" : fmt::format("{}, and Soft-RoCE on {} fails: {}", none, *interface, added.output);
}

}  // namespace

RdmaDevices RdmaDevices::find_or_add() {
  RdmaDevices found;
  found.names_ = device_names();
  if (!found.names_.empty()) return found;
  found.reason_ = add_device();
  if (!found.reason_.empty()) return found;
  found.added_ = true;
  found.names_ = {kAddedDevice};
  return found;
}

RdmaDevices::RdmaDevices(RdmaDevices&& other) noexcept
    : names_(std::move(other.names_)), reason_(std::move(other.reason_)), added_(std::exchange(other.added_, false)) {}

RdmaDevices::~RdmaDevices() {
  if (!added_) return;
  try {
    run_program({"rdma", "link", "delete", kAddedDevice}, kCommandLimit);
  } catch (std::exception const& error) {
    fmt::print(stderr, "lanewise check: the RDMA device {} is left behind: {}\n", kAddedDevice, error.what());
  }
}

}  // namespace lanewise::launch
