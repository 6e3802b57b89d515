#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::emulator {

// A learning Ethernet switch. Frames have QEMU's stream format: four bytes of length, then the frame.
class FrameSwitch {
 public:
  explicit FrameSwitch(std::size_t ports) : ports_(ports) {}
  // Takes bytes that came from a port.
  void receive(std::size_t port, std::string_view bytes);
  // The bytes to send to a port. The caller removes from the front what it has sent.
  [[nodiscard]] std::string& waiting_for(std::size_t port) { return ports_[port].to; }
  [[nodiscard]] std::string const& waiting_for(std::size_t port) const { return ports_[port].to; }
  // Whether a port has so many bytes waiting that nothing more should be received, which holds senders back.
  [[nodiscard]] bool is_full() const;

 private:
  struct Port {
    std::string from, to;
  };
  void forward(std::size_t port, std::string_view packet);

  std::vector<Port> ports_;
  std::map<std::string, std::size_t, std::less<>> port_of_;  // by Ethernet address
};

}  // namespace lanewise::emulator
