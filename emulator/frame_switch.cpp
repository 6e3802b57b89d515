#include "emulator/frame_switch.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace lanewise::emulator {
namespace {

constexpr std::size_t kLength = 4, kAddress = 6;

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
  if (packet.size() < kLength + 2 * kAddress) return;  // no Ethernet frame
  auto const destination = packet.substr(kLength, kAddress);
  auto const source = packet.substr(kLength + kAddress, kAddress);
  port_of_[std::string(source)] = port;
  bool const is_group = (static_cast<unsigned char>(destination.front()) & 1U) != 0;
  auto const known = port_of_.find(destination);
  for (std::size_t i = 0; i < ports_.size(); ++i)
    if (i != port && (is_group || known == port_of_.end() || known->second == i)) ports_[i].to += packet;
}

bool FrameSwitch::is_full() const {
  constexpr std::size_t kFull = std::size_t{256} << 10;
  return std::any_of(ports_.begin(), ports_.end(), [](Port const& port) { return port.to.size() > kFull; });
}

Networks::Networks(std::vector<VirtualMachine> const& machines) : ends_(machines.size()) {
  struct End {
    std::size_t machine, place;
  };
  std::map<int, std::vector<End>> networks;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    ends_[i].resize(machines[i].networks.size());
    for (std::size_t k = 0; k < machines[i].networks.size(); ++k) networks[machines[i].networks[k]].push_back({i, k});
  }
  for (auto const& network_ends : networks) {
    auto const& ends = network_ends.second;
    auto const end = [&](std::size_t i) -> Descriptor& { return ends_[ends[i].machine][ends[i].place]; };
    if (ends.size() == 2) {
      std::tie(end(0), end(1)) = connected_pair();
      continue;
    }
    Network network{FrameSwitch(ends.size()), {}};
    for (std::size_t i = 0; i < ends.size(); ++i) {
      auto [ours, theirs] = connected_pair();
      fcntl(ours.get(), F_SETFL, O_NONBLOCK);
      network.ports.push_back(std::move(ours));
      end(i) = std::move(theirs);
    }
    networks_.push_back(std::move(network));
  }
}

void Networks::wait_for(std::vector<pollfd>& waiting) const {
  for (auto const& network : networks_) {
    auto const& frames = network.frames;
    for (std::size_t i = 0; i < network.ports.size(); ++i) {
      short events = frames.is_full() ? 0 : POLLIN;
      if (!frames.waiting_for(i).empty()) events |= POLLOUT;
      waiting.push_back({network.ports[i].get(), events, 0});
    }
  }
}

void Networks::carry(std::vector<pollfd> const& ready) {
  auto at = ready.begin();
  for (auto& network : networks_) {
    for (std::size_t i = 0; i < network.ports.size(); ++i, ++at) {
      if ((at->revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      std::array<char, 65536> chunk{};
      auto const count = read(network.ports[i].get(), chunk.data(), chunk.size());
      if (count > 0) network.frames.receive(i, {chunk.data(), static_cast<std::size_t>(count)});
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) network.ports[i].reset();
    }
    for (std::size_t i = 0; i < network.ports.size(); ++i) send(network.ports[i], network.frames.waiting_for(i));
  }
}

void Networks::send(Descriptor const& port, std::string& waiting) {
  if (!port.is_open()) return waiting.clear();
  while (!waiting.empty()) {
    auto const count = ::send(port.get(), waiting.data(), waiting.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    waiting.erase(0, static_cast<std::size_t>(count));
  }
}

}  // namespace lanewise::emulator
