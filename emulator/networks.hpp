#pragma once
#include <poll.h>

#include <cstddef>
#include <string>
#include <vector>

#include "emulator/frame_switch.hpp"
#include "emulator/virtual_machine.hpp"
#include "process/process.hpp"

namespace lanewise::emulator {

// The networks of an emulation: two NICs on a network are joined directly, more by a switch in this process.
class Networks {
 public:
  explicit Networks(std::vector<VirtualMachine> const& machines);
  // Hands over a machine's ends, in the order of its networks.
  std::vector<Descriptor> ends_of(std::size_t machine) { return std::move(ends_[machine]); }
  // Appends the descriptors that the switches wait for.
  void add_descriptors(std::vector<pollfd>& waiting) const;
  // Forwards frames. `ready`: the entries that add_descriptors() appended, after poll(2).
  void forward(std::vector<pollfd> const& ready);

 private:
  struct Network {
    FrameSwitch frames;
    std::vector<Descriptor> ports;
  };
  static void send(Descriptor const& port, std::string& waiting);

  std::vector<std::vector<Descriptor>> ends_;
  std::vector<Network> networks_;  // those that need a switch
};

}  // namespace lanewise::emulator
