#pragma once
// Lets work on several devices begin together: what begins is held in its stream until the host opens all at once, when
// everything is enqueued.
#include <map>
#include <memory>
#include <vector>

#include "core/units/quantity.hpp"
#include "hw/cuda/handles.hpp"
#include "hw/cuda/memory/host_flag.hpp"

namespace lanewise::hw {

class ReleaseGate {
 public:
  explicit ReleaseGate(std::vector<Device> const& devices);
  ~ReleaseGate();
  ReleaseGate(ReleaseGate const&) = delete;
  ReleaseGate& operator=(ReleaseGate const&) = delete;

  // Closes it: what is enqueued behind hold() or hold_copy() from here on does not begin.
  void close();
  // Puts a gate of its own into a stream of `device`: 5 us sooner through than by an event of another stream. A kernel,
  // for what begins with a kernel.
  void hold(Device device, cudaStream_t stream) const;
  // For what begins with a copy engine, which starts 4 us later behind a kernel than by itself: the stream waits for
  // the word, where the driver can have it do so.
  void hold_copy(Device device, cudaStream_t stream) const;
  // Waits until every device has begun with what is enqueued, then opens. Throws DeviceError when one does not.
  void open();
  // Opens without waiting, for a thread that sees that the host cannot go on enqueueing.
  void force_open() const { flags_.store(kOpen, epoch_); }
  // Recorded before the opening; every event on that device is timed from it.
  [[nodiscard]] cudaEvent_t zero(Device device) const { return lanes_.at(device).zero.get(); }
  // A time between two events, without what they cost themselves.
  [[nodiscard]] Seconds without_events(Device device, Seconds measured) const;

 private:
  static constexpr std::size_t kOpen = 0;  // then one word for each device
  struct Lane {
    Stream stream;
    Event zero;
    std::size_t arrived = 0;
    Seconds events{0};  // their cost
  };
  HostFlags flags_;
  void* wait_value_ = nullptr;  // the driver's cuStreamWaitValue32, where it has one
  std::uint32_t epoch_ = 0;
  std::map<Device, Lane> lanes_;
};

}  // namespace lanewise::hw
