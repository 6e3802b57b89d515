// GPUs as the CUDA driver knows them. The driver is loaded at run time and the few needed calls are declared here, from
// the CUDA Driver API reference, so this also works in a build without the CUDA toolkit.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "hw/discover/sources/library.hpp"
#include "hw/discover/sources/sources.hpp"

namespace lanewise::hw {
namespace {

using Result = int;
using CudaDevice = int;
using Context = struct CUctx_st*;
using Pointer = unsigned long long;
constexpr Result kCudaSuccess = 0;

// CUdevice_attribute.
constexpr int kMultiprocessors = 16, kIntegrated = 18, kCopyEngines = 40, kMajor = 75, kMinor = 76, kManaged = 83,
              kHostAtomics = 86, kPageable = 88, kConcurrentManaged = 89, kRdma = 116, kDmaBuf = 124;
// CUdevice_P2PAttribute.
constexpr int kRank = 1, kAccess = 2, kAtomics = 3;

}  // namespace

struct CudaSource::Driver {
  Driver() : library("libcuda.so.1") {}

  // The result, or a failure when the function is not there.
  template <class... Arguments>
  Result call(char const* name, Arguments... arguments) const {
    auto* const function = library.function<Result(Arguments...)>(name);
    constexpr Result kNotFound = 500;  // CUDA_ERROR_NOT_FOUND
    return function == nullptr ? kNotFound : function(arguments...);
  }
  template <class... Arguments>
  bool succeeds(char const* name, Arguments... arguments) const {
    return call(name, arguments...) == kCudaSuccess;
  }

  [[nodiscard]] std::string words(Result result) const {
    char const* text = nullptr;
    return succeeds("cuGetErrorString", result, &text) && text != nullptr ? text : std::to_string(result);
  }
  [[nodiscard]] std::optional<int> attribute(int which, CudaDevice device) const {
    int value = 0;
    return succeeds("cuDeviceGetAttribute", &value, which, device) ? std::optional(value) : std::nullopt;
  }
  [[nodiscard]] bool has(int which, CudaDevice device) const { return attribute(which, device).value_or(0) != 0; }
  [[nodiscard]] std::string bdf(CudaDevice device) const {
    std::array<char, 32> text{};
    if (!succeeds("cuDeviceGetPCIBusId", text.data(), static_cast<int>(text.size() - 1), device)) return {};
    std::string address(text.data());
    std::transform(address.begin(), address.end(), address.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return address;
  }

  Library library;
  std::string reason;                // why the driver cannot be used; empty: it can
  std::vector<CudaDevice> devices;   // by ordinal
  std::vector<CudaDevice> retained;  // those whose primary context is held
};

CudaSource::CudaSource() : driver_(std::make_unique<Driver>()) {
  auto& driver = *driver_;
  if (!driver.library.is_loaded()) {
    driver.reason = driver.library.reason() + ": no CUDA driver";
    return;
  }
  if (auto const result = driver.call("cuInit", 0U); result != kCudaSuccess) {
    driver.reason = fmt::format("cuInit: {}", driver.words(result));
    return;
  }
  int count = 0;
  driver.succeeds("cuDeviceGetCount", &count);
  for (int ordinal = 0; ordinal < count; ++ordinal)
    if (CudaDevice device = 0; driver.succeeds("cuDeviceGet", &device, ordinal)) driver.devices.push_back(device);
  if (driver.devices.empty()) driver.reason = "CUDA finds no GPU";
}

CudaSource::~CudaSource() {
  for (auto const device : driver_->retained)
    if (!driver_->succeeds("cuDevicePrimaryCtxRelease_v2", device))
      driver_->succeeds("cuDevicePrimaryCtxRelease", device);
}

// Copies to the GPU for as long as its link takes to train up.
void CudaSource::wake(std::vector<std::string>& notes) {
  constexpr std::size_t kBuffer = std::size_t{16} << 20U;
  constexpr int kCopies = 32;  // half a GiB: 10 ms or more at any generation
  std::vector<std::byte> const host(driver_->devices.empty() ? 0 : kBuffer);
  for (auto const device : driver_->devices) {
    Context context = nullptr;
    Context before = nullptr;
    auto const result = driver_->call("cuDevicePrimaryCtxRetain", &context, device);
    if (result != kCudaSuccess) {
      notes.push_back(fmt::format("{} could not be woken ({}); an idle GPU may show a slower PCIe link than it has",
                                  driver_->bdf(device), driver_->words(result)));
      continue;
    }
    driver_->retained.push_back(device);
    if (!driver_->succeeds("cuCtxPushCurrent_v2", context)) continue;
    if (Pointer memory = 0; driver_->succeeds("cuMemAlloc_v2", &memory, kBuffer)) {
      for (int i = 0; i < kCopies; ++i)
        driver_->succeeds("cuMemcpyHtoD_v2", memory, static_cast<void const*>(host.data()), kBuffer);
      driver_->succeeds("cuMemFree_v2", memory);
    }
    driver_->succeeds("cuCtxPopCurrent_v2", &before);
  }
}

CudaFacts CudaSource::read() const {
  CudaFacts facts;
  auto const& driver = *driver_;
  facts.probe = {true, driver.reason.empty(), driver.reason};
  if (!facts.probe.found) return facts;
  driver.succeeds("cuDriverGetVersion", &facts.driver_version);
  for (std::size_t i = 0; i < driver.devices.size(); ++i) {
    auto const device = driver.devices[i];
    CudaGpu gpu;
    gpu.ordinal = static_cast<int>(i);
    gpu.bdf = driver.bdf(device);
    std::array<char, 256> name{};
    if (driver.succeeds("cuDeviceGetName", name.data(), static_cast<int>(name.size() - 1), device))
      gpu.name = name.data();
    gpu.compute_capability = fmt::format("{}.{}", driver.attribute(kMajor, device).value_or(0),
                                         driver.attribute(kMinor, device).value_or(0));
    gpu.multiprocessors = driver.attribute(kMultiprocessors, device).value_or(0);
    gpu.copy_engines = driver.attribute(kCopyEngines, device).value_or(0);
    if (std::size_t bytes = 0; driver.succeeds("cuDeviceTotalMem_v2", &bytes, device))
      gpu.memory = Bytes(static_cast<std::int64_t>(bytes));
    gpu.integrated = driver.has(kIntegrated, device);
    gpu.managed = driver.has(kManaged, device);
    gpu.concurrent_managed = driver.has(kConcurrentManaged, device);
    gpu.pageable = driver.has(kPageable, device);
    gpu.host_atomics = driver.has(kHostAtomics, device);
    gpu.dma_buf = driver.has(kDmaBuf, device);
    gpu.rdma = driver.has(kRdma, device);
    facts.gpus.push_back(std::move(gpu));
  }
  auto const peer = [&](int which, std::size_t from, std::size_t to) {
    int value = 0;
    return driver.succeeds("cuDeviceGetP2PAttribute", &value, which, driver.devices[from], driver.devices[to])
               ? std::optional(value)
               : std::nullopt;
  };
  for (std::size_t from = 0; from < facts.gpus.size(); ++from)
    for (std::size_t to = 0; to < facts.gpus.size(); ++to)
      if (from != to)
        facts.pairs.push_back({facts.gpus[from].bdf, facts.gpus[to].bdf, peer(kAccess, from, to).value_or(0) != 0,
                               peer(kAtomics, from, to).value_or(0) != 0, peer(kRank, from, to)});
  return facts;
}

}  // namespace lanewise::hw
