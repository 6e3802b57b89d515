#include "hw/verbs/region_cache.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "lanewise/io/error.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise::hw {
namespace {

std::string refusal(Bytes bytes, int code) {
  auto text = fmt::format("registering {}: {}", exact_text(bytes), std::strerror(code));
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  bool const unlimited = limit.rlim_cur == RLIM_INFINITY;
  if ((code == ENOMEM || code == EAGAIN || code == EPERM) && !unlimited)
    text += fmt::format("; this process may lock {} of memory (RLIMIT_MEMLOCK): `ulimit -l unlimited` raises it",
                        exact_text(Bytes(static_cast<std::int64_t>(limit.rlim_cur))));
  return text;
}

}  // namespace

ibv_mr const& RegionCache::region(Nic const& nic, Memory const& memory, Bytes bytes) {
  auto& region = regions_[{&nic, &memory}];
  if (region.get() != nullptr) return *region.get();
  constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  auto const length = static_cast<std::size_t>(bytes.value());
  if (auto const dma_buf = memory.dma_buf())
    region = MemoryRegion(
        ibv_reg_dmabuf_mr(nic.domain(), 0, length, reinterpret_cast<std::uint64_t>(memory.data()), *dma_buf, kAccess));
  if (region.get() == nullptr) region = MemoryRegion(ibv_reg_mr(nic.domain(), memory.data(), length, kAccess));
  if (region.get() == nullptr) throw DeviceError(nic.text() + ": ibv_reg_mr", errno, refusal(bytes, errno));
  return *region.get();
}

}  // namespace lanewise::hw
