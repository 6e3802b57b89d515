#pragma once
// Memory that a NIC reads and writes: of a NUMA node or of a GPU. It carries the pattern of a step, and is where chunks
// are copied out of and into when the NIC cannot reach it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/units/quantity.hpp"
#include "hw/memory/bound_pages.hpp"
#include "hw/memory/mismatch.hpp"

namespace lanewise::hw {

class Memory {
 public:
  Memory() = default;
  Memory(Memory const&) = delete;
  Memory& operator=(Memory const&) = delete;
  virtual ~Memory() = default;

  [[nodiscard]] virtual std::byte* data() const = 0;
  // What ibv_reg_dmabuf_mr takes for memory of a device; absent: the address says all, or the driver has no such thing.
  [[nodiscard]] virtual std::optional<int> dma_buf() const { return std::nullopt; }

  // These return when it is done.
  virtual void fill(std::uint64_t seed) = 0;
  virtual void clear() = 0;  // zeros
  [[nodiscard]] virtual std::optional<Mismatch> mismatch(std::uint64_t seed) const = 0;

  // One copy at a time is begun and asked after: from here into host memory, or from there to here.
  virtual void begin_copy_out(std::byte* host, std::size_t offset, std::size_t bytes) = 0;
  virtual void begin_copy_in(std::byte const* host, std::size_t offset, std::size_t bytes) = 0;
  [[nodiscard]] virtual bool copied() const = 0;
};

// Of a NUMA node; a core fills, checks and copies it.
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

// Gives memory of the GPU at that PCI address, or without one of the how manieth. Throws MissingError where there is no
// such GPU, or this build has no CUDA.
using MakeGpuMemory = std::unique_ptr<Memory> (*)(std::string const& bdf, int gpu, Bytes bytes);

}  // namespace lanewise::hw
