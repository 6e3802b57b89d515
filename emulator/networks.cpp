#include "emulator/networks.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <tuple>
#include <utility>

namespace lanewise::emulator {

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

void Networks::add_descriptors(std::vector<pollfd>& waiting) const {
  for (auto const& network : networks_) {
    auto const& frames = network.frames;
    for (std::size_t i = 0; i < network.ports.size(); ++i) {
      short events = frames.is_full() ? 0 : POLLIN;
      if (!frames.waiting_for(i).empty()) events |= POLLOUT;
      waiting.push_back({network.ports[i].get(), events, 0});
    }
  }
}

void Networks::forward(std::vector<pollfd> const& ready) {
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
