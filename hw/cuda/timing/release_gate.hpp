#pragma once
// Lets work on several devices begin together: the gate holds the first work of each stream until the host has enqueued
// everything and opens all streams at once.
#include <map>
#include <memory>
#include <vector>

#include "hw/cuda/memory/host_flag.hpp"
#include "hw/cuda/runtime/handles.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise::hw {

class ReleaseGate {
 public:
  explicit ReleaseGate(std::vector<Device> const& devices);
  ~ReleaseGate();
  ReleaseGate(ReleaseGate const&) = delete;
  ReleaseGate& operator=(ReleaseGate const&) = delete;

  // Closes the gate: what is enqueued behind hold() or hold_copy() from now on does not begin.
  void close();
  // Holds a stream of `device` by a kernel of its own, for work that begins with a kernel. The stream goes on 5 us
  // sooner than one that waits for an event of another stream.
  void hold(Device device, cudaStream_t stream) const;
  // Holds a stream whose work begins with a copy engine, which starts 4 us later behind a kernel: the stream itself
  // waits for the gate's word, where the driver supports that.
  void hold_copy(Device device, cudaStream_t stream) const;
  // Waits until every device has begun with its enqueued work, then opens. Throws DeviceError when one does not.
  void open();
  // Opens without waiting. May be called from another thread than the one that enqueues.
  void force_open() const { flags_.store(kOpen, epoch_); }
  // The event from which every other event on that device is timed; recorded before the gate opens.
  [[nodiscard]] cudaEvent_t zero(Device device) const { return devices_.at(device).zero.get(); }
  // A time between two events, less what the events themselves cost.
  [[nodiscard]] Seconds without_event_cost(Device device, Seconds measured) const;

 private:
  static constexpr std::size_t kOpen = 0;  // then one word for each device
  struct DeviceGate {
    Stream stream;
    Event zero;
    std::size_t arrived = 0;  // the word that the device sets when it has begun
    Seconds event_cost{0};
  };
  HostFlags flags_;
  void* wait_value_ = nullptr;  // the driver's cuStreamWaitValue32, where it has one
  std::uint32_t epoch_ = 0;
  std::map<Device, DeviceGate> devices_;
};

}  // namespace lanewise::hw
