#include "hw/cuda/devices/devices.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hw/cuda/runtime/cuda_error.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

std::string pci_address(Device device) {
  std::array<char, 32> text{};
  LANEWISE_CUDA(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), ordinal(device)));
  std::string address(text.data());
  std::transform(address.begin(), address.end(), address.begin(), [](unsigned char c) { return std::tolower(c); });
  return address;
}

std::map<std::string, Device> devices_of_addresses(int count) {
  std::map<std::string, Device> devices;
  for (int i = 0; i < count; ++i) devices.emplace(pci_address(Device(i)), Device(i));
  return devices;
}

cudaDeviceProp properties(Device device) {
  cudaDeviceProp found{};
  check_cuda(cudaGetDeviceProperties(&found, ordinal(device)), "cudaGetDeviceProperties");
  return found;
}

int attribute(Device device, cudaDeviceAttr wanted) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, wanted, ordinal(device)), "cudaDeviceGetAttribute");
  return value;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// Creates the context now, so that a device that cannot be used is reported before anything is allocated.
void open(Device device, std::string const& name) {
  try {
    DeviceGuard const guard(device);
    LANEWISE_CUDA(cudaFree(nullptr));
  } catch (DeviceError const& error) {
    if (attribute(device, cudaDevAttrComputeMode) == cudaComputeModeProhibited)
      throw MissingError(name + " is in prohibited compute mode: 'nvidia-smi -c DEFAULT' allows its use");
    if (error.code() == cudaErrorDevicesUnavailable)
      throw MissingError(name +
                         " is in use by another program in exclusive mode: end that, or 'nvidia-smi -c DEFAULT'");
    throw MissingError(fmt::format("{} cannot be used: {}", name, error.what()));
  }
}

}  // namespace

DeviceCount count_devices() {
  int count = 0;
  auto const result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess && count > 0) return {count, {}};
  cudaGetLastError();
  if (result == cudaErrorInsufficientDriver)
    return {0, "no NVIDIA driver for this CUDA runtime is here; install a driver of CUDA " +
                   version_text(CUDART_VERSION) + " or later"};
  if (result == cudaErrorNoDevice || result == cudaSuccess) return {0, "the driver sees no GPU"};
  return {0, cudaGetErrorString(result)};
}

std::vector<Device> devices_by_address() {
  std::vector<Device> devices;
  for (auto const& [address, device] : devices_of_addresses(count_devices().count)) devices.push_back(device);
  return devices;
}

Devices::Devices(Machine machine, int first) : machine_(std::move(machine)) {
  auto const found = count_devices();
  if (found.count == 0) throw MissingError("no GPU to run on: " + found.reason);
  if (machine_.hosts.size() > 1)
    throw MissingError(fmt::format("'{}' is a cluster: its GPUs are not all in this machine", machine_.name));
  auto const by_address = devices_of_addresses(found.count);
  auto next = std::next(by_address.begin(), std::min(first, found.count));
  auto const gpus = machine_.all(PciKind::Gpu);
  if (gpus.size() + static_cast<std::size_t>(first) > by_address.size())
    throw MissingError(fmt::format("'{}' has {} GPUs, here are {}; describe this machine with 'lanewise discover'",
                                   machine_.name, gpus.size(), by_address.size()));
  for (auto const gpu : gpus) {
    auto const& function = machine_.at(gpu);
    if (function.bdf.empty()) {
      match(gpu, (next++)->second);
      continue;
    }
    auto const at = by_address.find(function.bdf);
    if (at == by_address.end())
      throw InputError(
          fmt::format("'{}' has {} at {}, where no GPU is here; describe this machine with 'lanewise discover'",
                      machine_.name, function.name, function.bdf));
    match(gpu, at->second);
  }
  for (auto const& [gpu, device] : devices_) open(device, machine_.at(gpu).name);
}

Devices::Devices(Machine machine, Device all) : machine_(std::move(machine)), all_{all} {
  auto const here = properties(all);
  for (auto const gpu : machine_.all(PciKind::Gpu)) devices_.emplace(gpu, all);
  multiprocessors_.emplace(all, here.multiProcessorCount);
  names_.emplace(here.name);
  open(all, here.name);
}

void Devices::match(PciId gpu, Device device) {
  auto const here = properties(device);
  if (auto const* part = machine_.part_of(gpu); part != nullptr && !part->gpu.compute_capability.empty()) {
    auto const capability = fmt::format("{}.{}", here.major, here.minor);
    if (part->gpu.compute_capability != capability)
      throw InputError(fmt::format("'{}' says that {} is a {} of compute capability {}; here it is a {} of {}",
                                   machine_.name, machine_.at(gpu).name, part->name, part->gpu.compute_capability,
                                   here.name, capability));
  }
  devices_.emplace(gpu, device);
  all_.push_back(device);
  multiprocessors_.emplace(device, here.multiProcessorCount);
  names_.emplace(here.name);
}

Device Devices::of(Place const& place) const {
  if (auto const* id = std::get_if<PciId>(&place))
    if (auto const found = devices_.find(*id); found != devices_.end()) return found->second;
  throw PlanError(fmt::format("{} is not a GPU of this machine", machine_.name_of(place)));
}

std::map<std::string, std::string> Devices::environment() const {
  int driver = 0;
  int runtime = 0;
  LANEWISE_CUDA(cudaDriverGetVersion(&driver));
  LANEWISE_CUDA(cudaRuntimeGetVersion(&runtime));
  std::map<std::string, std::string> found{{"cuda_driver", version_text(driver)},
                                           {"cuda_runtime", version_text(runtime)},
                                           {"gpus", fmt::format("{} x {}", all_.size(), fmt::join(names_, ", "))}};
  utsname system{};
  if (uname(&system) == 0) found["kernel"] = system.release;
  // What the GPU can run at, not what it does under power limits.
  constexpr int kKilohertz = 1000;  // in a megahertz, the attributes' unit
  found["sm_clock"] = fmt::format("{} MHz", attribute(all_.front(), cudaDevAttrClockRate) / kKilohertz);
  found["memory_clock"] = fmt::format("{} MHz", attribute(all_.front(), cudaDevAttrMemoryClockRate) / kKilohertz);
  return found;
}

void Devices::enable_peer_access(Device device, Device peer) {
  if (device == peer || reachable_.contains({device, peer})) return;
  int possible = 0;
  check_cuda(cudaDeviceCanAccessPeer(&possible, ordinal(device), ordinal(peer)), "cudaDeviceCanAccessPeer");
  if (possible == 0)
    throw MissingError(
        fmt::format("the driver refuses GPU {} access to the memory of GPU {}; 'nvidia-smi topo -p2p r' "
                    "says why, 'lanewise discover' what lanewise thinks of it",
                    ordinal(device), ordinal(peer)));
  DeviceGuard const guard(device);
  auto const result = cudaDeviceEnablePeerAccess(ordinal(peer), 0);
  if (result == cudaErrorPeerAccessAlreadyEnabled)
    cudaGetLastError();
  else
    check_cuda(result, "cudaDeviceEnablePeerAccess");
  reachable_.emplace(device, peer);
}

void Devices::disable_peer_access(Device device, Device peer) {
  DeviceGuard const guard(device);
  auto const result = cudaDeviceDisablePeerAccess(ordinal(peer));
  if (result == cudaErrorPeerAccessNotEnabled)
    cudaGetLastError();
  else
    check_cuda(result, "cudaDeviceDisablePeerAccess");
  reachable_.erase({device, peer});
}

}  // namespace lanewise::hw
