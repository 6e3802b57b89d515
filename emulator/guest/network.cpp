#include "emulator/guest/network.hpp"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <rdma/rdma_netlink.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "emulator/guest/system.hpp"

namespace lanewise::emulator::guest {
namespace {

ifreq request_for(std::string const& interface) {
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  return request;
}

sockaddr ipv4(std::string const& address) {
  sockaddr_in internet{};
  internet.sin_family = AF_INET;
  if (inet_pton(AF_INET, address.c_str(), &internet.sin_addr) != 1) throw GuestError("not an address: " + address);
  sockaddr generic{};
  std::memcpy(&generic, &internet, sizeof generic);
  return generic;
}

void bring_up(int socket, std::string const& interface) {
  auto request = request_for(interface);
  check(ioctl(socket, SIOCGIFFLAGS, &request), interface);
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  check(ioctl(socket, SIOCSIFFLAGS, &request), interface);
}

// The interface that the kernel made for a PCI function.
std::string interface_of(GuestNic const& nic) {
  auto const folder = "/sys/devices/" + nic.path;
  for (auto const& name : names_in(folder)) {
    if (!name.starts_with("virtio")) continue;
    auto inside = folder;
    auto const interfaces = names_in(inside.append("/").append(name).append("/net"));
    if (!interfaces.empty()) return interfaces.front();
  }
  throw GuestError("no network interface came up for " + nic.interface + " at " + nic.path);
}

void start_interface(int socket, GuestNic const& nic) {
  auto request = request_for(interface_of(nic));
  if (request.ifr_name != nic.interface) {
    nic.interface.copy(request.ifr_newname, IFNAMSIZ - 1);
    check(ioctl(socket, SIOCSIFNAME, &request), "naming " + nic.interface);
  }
  request = request_for(nic.interface);
  request.ifr_addr = ipv4(nic.address);
  check(ioctl(socket, SIOCSIFADDR, &request), nic.interface + " " + nic.address);
  request.ifr_netmask = ipv4("255.255.255.0");
  check(ioctl(socket, SIOCSIFNETMASK, &request), nic.interface);
  bring_up(socket, nic.interface);
}

void add_attribute(std::string& message, int type, std::string const& text) {
  nlattr const header{static_cast<std::uint16_t>(NLA_HDRLEN + text.size() + 1), static_cast<std::uint16_t>(type)};
  message.append(reinterpret_cast<char const*>(&header), sizeof header);
  message.append(text.c_str(), text.size() + 1);
  message.resize(NLMSG_ALIGN(message.size()));
}

// What `rdma link add NAME type rxe netdev INTERFACE` does.
void add_rxe(std::string const& name, std::string const& interface) {
  File const netlink(check(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA), "netlink"));
  std::string message(NLMSG_HDRLEN, '\0');
  add_attribute(message, RDMA_NLDEV_ATTR_DEV_NAME, name);
  add_attribute(message, RDMA_NLDEV_ATTR_LINK_TYPE, "rxe");
  add_attribute(message, RDMA_NLDEV_ATTR_NDEV_NAME, interface);
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(message.size());
  header.nlmsg_type = static_cast<std::uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_NEWLINK));
  header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  std::memcpy(message.data(), &header, sizeof header);
  check(send(netlink.get(), message.data(), message.size(), 0), "netlink");
  struct {
    nlmsghdr header;
    nlmsgerr error;
    std::array<char, 1024> more;
  } answer{};
  check(recv(netlink.get(), &answer, sizeof answer, 0), "netlink");
  if (answer.header.nlmsg_type != NLMSG_ERROR || answer.error.error == 0) return;
  errno = -answer.error.error;
  fail("adding the RDMA device " + name + " to " + interface);
}

}  // namespace

void start_network(GuestConfig const& config) {
  File const any(check(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
  bring_up(any.get(), "lo");
  for (auto const& nic : config.nics) start_interface(any.get(), nic);
  for (auto const& nic : config.nics)
    if (!nic.rdma.empty()) add_rxe(nic.rdma, nic.interface);
}

}  // namespace lanewise::emulator::guest
