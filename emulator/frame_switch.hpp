#pragma once
// What joins the virtual NICs: a cable where two are on a network, an Ethernet switch in this process where more are.
#include <poll.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "emulator/virtual_machine.hpp"
#include "process/process.hpp"

namespace lanewise::emulator {

// A learning Ethernet switch. Frames come and go as QEMU writes them to a stream: four bytes of length, then the frame.
class FrameSwitch {
 public:
  explicit FrameSwitch(std::size_t ports) : ports_(ports) {}
  // Bytes that came from a port.
  void receive(std::size_t port, std::string_view bytes);
  // Bytes that wait to go to a port; the caller takes from the front what it could send.
  [[nodiscard]] std::string& waiting_for(std::size_t port) { return ports_[port].to; }
  [[nodiscard]] std::string const& waiting_for(std::size_t port) const { return ports_[port].to; }
  // Whether so much waits that nothing more should be received: what is sent is then held back at its source.
  [[nodiscard]] bool is_full() const;

 private:
  struct Port {
    std::string from, to;
  };
  void forward(std::size_t port, std::string_view packet);

  std::vector<Port> ports_;
  std::map<std::string, std::size_t, std::less<>> port_of_;  // by Ethernet address
};

// All the networks of an emulation.
class Networks {
 public:
  explicit Networks(std::vector<VirtualMachine> const& machines);
  // A machine's ends, in the order of its networks; handed over once.
  std::vector<Descriptor> ends_of(std::size_t machine) { return std::move(ends_[machine]); }
  // Adds what the switches wait for.
  void wait_for(std::vector<pollfd>& waiting) const;
  // Carries frames, told of what wait_for added.
  void carry(std::vector<pollfd> const& ready);

 private:
  struct Network {
    FrameSwitch frames;
    std::vector<Descriptor> ports;
  };
  static void send(Descriptor const& port, std::string& waiting);

  std::vector<std::vector<Descriptor>> ends_;
  std::vector<Network> networks_;  // those with a switch
};

}  // namespace lanewise::emulator
