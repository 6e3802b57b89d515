#pragma once
// Memory of a NUMA node or a GPU that holds the bytes of a step: filled with a pattern, read and written by a NIC, or
// copied in chunks where the NIC cannot reach it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "hw/memory/bound_pages.hpp"
#include "hw/memory/mismatch.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise::hw {

class Memory {
 public:
  Memory() = default;
  Memory(Memory const&) = delete;
  Memory& operator=(Memory const&) = delete;
  virtual ~Memory() = default;

  [[nodiscard]] virtual std::byte* data() const = 0;
  // The dma-buf of device memory, for ibv_reg_dmabuf_mr; absent for host memory, or where the driver exports none.
  [[nodiscard]] virtual std::optional<int> dma_buf() const { return std::nullopt; }

  // These return when the work is done.
  virtual void fill(std::uint64_t seed) = 0;
  virtual void clear() = 0;  // zeros
  [[nodiscard]] virtual std::optional<Mismatch> mismatch(std::uint64_t seed) const = 0;

  // Begin a copy from here into host memory, or from there to here; copied() says whether it has ended. One copy at a
  // time.
  virtual void begin_copy_out(std::byte* host, std::size_t offset, std::size_t bytes) = 0;
  virtual void begin_copy_in(std::byte const* host, std::size_t offset, std::size_t bytes) = 0;
  [[nodiscard]] virtual bool copied() const = 0;
};

// Memory of a NUMA node; a CPU core fills, checks and copies it.
class NodeMemory : public Memory {
 public:
  NodeMemory(Bytes bytes, NumaIndex numa) : pages_(bytes, numa), bytes_(static_cast<std::size_t>(bytes.value())) {}
  [[nodiscard]] std::byte* data() const override { return static_cast<std::byte*>(pages_.data()); }
  void fill(std::uint64_t seed) override;
  void clear() override;
  [[nodiscard]] std::optional<Mismatch> mismatch(std::uint64_t seed) const override;
  void begin_copy_out(std::byte* host, std::size_t offset, std::size_t bytes) override;
  void begin_copy_in(std::byte const* host, std::size_t offset, std::size_t bytes) override;
  [[nodiscard]] bool copied() const override { return true; }

 private:
  BoundPages pages_;
  std::size_t bytes_;
};

// Allocates memory on the GPU at that PCI address or, where it is empty, on GPU number `gpu`. Throws MissingError where
// there is no such GPU, or this build has no CUDA.
using MakeGpuMemory = std::unique_ptr<Memory> (*)(std::string const& bdf, int gpu, Bytes bytes);

}  // namespace lanewise::hw
