#include "emulator/frame_switch.hpp"

#include <algorithm>

namespace lanewise::emulator {
namespace {

constexpr std::size_t kLength = 4, kAddress = 6;  // bytes of QEMU's length field and of an Ethernet address

std::size_t length_of(std::string_view packet) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLength; ++i) length = length << 8 | static_cast<unsigned char>(packet[i]);
  return length;
}

}  // namespace

void FrameSwitch::receive(std::size_t port, std::string_view bytes) {
  auto& from = ports_[port].from;
  from += bytes;
  std::size_t at = 0;
  while (from.size() - at >= kLength) {
    auto const size = kLength + length_of(std::string_view(from).substr(at));
    if (from.size() - at < size) break;
    forward(port, std::string_view(from).substr(at, size));
    at += size;
  }
  from.erase(0, at);
}

void FrameSwitch::forward(std::size_t port, std::string_view packet) {
  if (packet.size() < kLength + 2 * kAddress) return;  // too short for an Ethernet frame
  auto const destination = packet.substr(kLength, kAddress);
  auto const source = packet.substr(kLength + kAddress, kAddress);
  port_of_[std::string(source)] = port;
  bool const is_multicast = (static_cast<unsigned char>(destination.front()) & 1U) != 0;
  auto const known = port_of_.find(destination);
  for (std::size_t i = 0; i < ports_.size(); ++i)
    if (i != port && (is_multicast || known == port_of_.end() || known->second == i)) ports_[i].to += packet;
}

bool FrameSwitch::is_full() const {
  constexpr std::size_t kMaxWaitingBytes = std::size_t{256} << 10;
  return std::any_of(ports_.begin(), ports_.end(), [](Port const& port) { return port.to.size() > kMaxWaitingBytes; });
}

}  // namespace lanewise::emulator
