#pragma once
// The buffers that a collective's steps share: allocated once, filled before every run and checked after it.
#include <string>
#include <vector>

#include "hw/cuda/memory/device_buffer.hpp"
#include "hw/program/contents.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::hw {

class SharedBuffers {
 public:
  // Host memory is pinned. Throws PlanError where no collective says what the buffers hold, or where a step cuts at an
  // offset that kernels cannot.
  SharedBuffers(Plan const& plan, Devices const& devices);

  // Buffers that something else owns, fills and checks, by buffer of the plan; host memory is pinned. They must outlive
  // this. Throws likewise.
  SharedBuffers(Plan const& plan, Devices const& devices, std::vector<void*> const& memory);

  // The part of a buffer that a step reads or writes.
  [[nodiscard]] DeviceBuffer window(Region const& region, Bytes bytes) const;
  [[nodiscard]] void* data(BufferId buffer) const { return buffers_[index(buffer)].data(); }
  // Writes the participants' initial data; everything else gets a pattern that no step expects.
  void fill();
  // For each step the first wrong byte of what it was the last to write; empty: none. Checked on the devices.
  [[nodiscard]] std::vector<std::string> mismatches() const;

 private:
  void refuse_cuts() const;
  // The first byte of buffer i that is not what the collective must leave there.
  [[nodiscard]] std::optional<Mismatch> mismatch(std::size_t i) const;
  [[nodiscard]] std::size_t last_writer(std::size_t buffer, std::uint64_t offset) const;

  std::vector<Step> const& steps_;
  std::vector<Buffer> const& plan_;
  Contents initial_, expected_;
  std::vector<DeviceBuffer> buffers_;
};

}  // namespace lanewise::hw
