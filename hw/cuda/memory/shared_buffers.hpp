#pragma once
// The memory that a collective's steps share: allocated once, filled before every run, checked after it.
#include <string>
#include <vector>

#include "core/plan/plan.hpp"
#include "hw/cuda/memory/device_buffer.hpp"
#include "hw/program/contents.hpp"

namespace lanewise::hw {

class SharedBuffers {
 public:
  // Host memory among them is pinned. Throws PlanError where no collective says what the buffers hold.
  SharedBuffers(Plan const& plan, Devices const& devices);

  // What a step reads or writes.
  [[nodiscard]] DeviceBuffer window(Region const& region, Bytes bytes) const;
  [[nodiscard]] void* data(BufferId buffer) const { return buffers_[index(buffer)].data(); }
  // As the participants have them at first; elsewhere what nobody wants.
  void fill();
  // For each step what is wrong in the end of what it was the last to write; empty: nothing. Checked on the devices.
  [[nodiscard]] std::vector<std::string> mismatches() const;

 private:
  // The first wrong byte of a buffer, after what all participants together must have made of it.
  [[nodiscard]] std::optional<Mismatch> mismatch(std::size_t i) const;
  [[nodiscard]] std::size_t last_writer(std::size_t buffer, std::uint64_t offset) const;

  std::vector<Step> const& steps_;
  std::vector<Buffer> const& plan_;
  Contents at_first_, in_the_end_;
  std::vector<DeviceBuffer> buffers_;
};

}  // namespace lanewise::hw
