#pragma once
// Lets work on several devices begin together: a kernel on each holds its stream until the host opens all at once, when
// everything is enqueued. The moment after it is zero on that device's clock.
#include <map>
#include <memory>
#include <vector>

#include "hw/cuda/handles.hpp"
#include "hw/cuda/host_flag.hpp"

namespace lanewise::hw {

class ReleaseGate {
 public:
  explicit ReleaseGate(std::vector<Device> const& devices);
  ~ReleaseGate();
  ReleaseGate(ReleaseGate const&) = delete;
  ReleaseGate& operator=(ReleaseGate const&) = delete;

  // Closes it: from here on, what waits for zero(device) does not begin.
  void close();
  // Waits until every device is held, then opens. Throws DeviceError when one does not get there.
  void open();
  // Opens without waiting, for a thread that sees that the host cannot go on enqueueing.
  void force_open() const { flags_.store(kOpen, epoch_); }
  // Recorded at the opening; every event on that device is timed from it.
  [[nodiscard]] cudaEvent_t zero(Device device) const { return lanes_.at(device).zero.get(); }

 private:
  static constexpr std::size_t kOpen = 0;  // then one word for each device
  struct Lane {
    Stream stream;
    Event zero;
    std::size_t arrived = 0;
  };
  HostFlags flags_;
  std::uint32_t epoch_ = 0;
  std::map<Device, Lane> lanes_;
};

}  // namespace lanewise::hw
