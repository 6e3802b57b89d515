#pragma once
// Memory of a NUMA node or a GPU that holds the bytes of steps: filled with a pattern, read and written by a NIC, or
// copied in chunks where the NIC cannot reach it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "hw/memory/bound_pages.hpp"
#include "hw/memory/content.hpp"
#include "hw/memory/mismatch.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise::hw {

// Copies chunk by chunk between a memory and a ring, in host memory or another GPU's, in the order begun, several at a
// time.
class Copier {
 public:
  Copier() = default;
  Copier(Copier const&) = delete;
  Copier& operator=(Copier const&) = delete;
  virtual ~Copier() = default;

  // Begin a copy from the memory's `offset` to the ring, from the ring to there, or the addition of elements of 4 bytes
  // at `source`, in host memory or in memory like this, to those there.
  virtual void copy_out(std::byte* ring, std::size_t offset, std::size_t bytes) = 0;
  virtual void copy_in(std::byte const* ring, std::size_t offset, std::size_t bytes) = 0;
  virtual void add(std::byte const* source, std::size_t offset, std::size_t bytes) = 0;
  // How many of those begun have ended, oldest first. Throws DeviceError.
  [[nodiscard]] virtual std::int64_t completed() = 0;
};

class Memory {
 public:
  Memory() = default;
  Memory(Memory const&) = delete;
  Memory& operator=(Memory const&) = delete;
  virtual ~Memory() = default;

  [[nodiscard]] virtual std::byte* data() const = 0;
  [[nodiscard]] virtual bool is_on_gpu() const { return false; }
  // The dma-buf of device memory, for ibv_reg_dmabuf_mr; absent for host memory, or where the driver exports none.
  [[nodiscard]] virtual std::optional<int> dma_buf() const { return std::nullopt; }

  // These return when the work is done.
  virtual void fill(std::uint64_t seed) = 0;
  virtual void clear() = 0;  // zeros
  [[nodiscard]] virtual std::optional<Mismatch> mismatch(std::uint64_t seed) const = 0;
  // The same of a range that holds what participants of a collective contribute.
  virtual void fill(MemoryContent const& content) = 0;
  [[nodiscard]] virtual std::optional<Mismatch> mismatch(MemoryContent const& content) const = 0;

  // The memory must outlive it.
  [[nodiscard]] virtual std::unique_ptr<Copier> copier() = 0;
};

// Memory of a NUMA node; a CPU core fills, checks and copies it.
class NodeMemory : public Memory {
 public:
  NodeMemory(Bytes bytes, NumaIndex numa) : pages_(bytes, numa), bytes_(static_cast<std::size_t>(bytes.value())) {}
  [[nodiscard]] std::byte* data() const override { return static_cast<std::byte*>(pages_.data()); }
  void fill(std::uint64_t seed) override;
  void clear() override;
  [[nodiscard]] std::optional<Mismatch> mismatch(std::uint64_t seed) const override;
  void fill(MemoryContent const& content) override;
  [[nodiscard]] std::optional<Mismatch> mismatch(MemoryContent const& content) const override;
  [[nodiscard]] std::unique_ptr<Copier> copier() override;

 protected:
  [[nodiscard]] BoundPages const& pages() const { return pages_; }

 private:
  BoundPages pages_;
  std::size_t bytes_;
};

}  // namespace lanewise::hw
