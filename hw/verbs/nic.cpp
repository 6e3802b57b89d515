#include "hw/verbs/nic.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace fs = std::filesystem;
namespace {

// The list of RDMA devices.
struct DeviceList {
  DeviceList() : list(ibv_get_device_list(&count)) {}
  ~DeviceList() {
    if (list != nullptr) ibv_free_device_list(list);
  }
  DeviceList(DeviceList const&) = delete;
  DeviceList& operator=(DeviceList const&) = delete;
  int count = 0;
  ibv_device** list;
};

std::string line_of(fs::path const& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// The PCI address that a device's folder in sysfs leads to; empty for software devices.
std::string pci_address(fs::path const& folder) {
  std::error_code none;
  return fs::canonical(folder / "device", none).filename().string();
}

// The network interfaces of a device's GIDs.
std::vector<std::string> interfaces(fs::path const& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (auto const& entry : fs::directory_iterator(folder / "ports/1/gid_attrs/ndevs", none))
    if (auto const name = line_of(entry.path()); !name.empty()) names.push_back(name);
  return names;
}

ibv_device* find(DeviceList const& devices, NetworkNic const& wanted) {
  auto const first = [&](auto&& matches) -> ibv_device* {
    for (int i = 0; i < devices.count; ++i)
      if (matches(devices.list[i])) return devices.list[i];
    return nullptr;
  };
  auto const folder = [](ibv_device* device) {
    return fs::path("/sys/class/infiniband") / ibv_get_device_name(device);
  };
  if (!wanted.bdf.empty())
    if (auto* found = first([&](auto* d) { return pci_address(folder(d)) == wanted.bdf; })) return found;
  if (!wanted.device_name.empty())
    if (auto* found = first([&](auto* d) { return ibv_get_device_name(d) == wanted.device_name; })) return found;
  auto const by_interface = first([&](auto* d) {
    auto const names = interfaces(folder(d));
    return std::find(names.begin(), names.end(), wanted.function) != names.end();
  });
  // An interface of that name exists but has no device (any more): another device must not stand for it.
  if (by_interface != nullptr || if_nametoindex(wanted.function.c_str()) != 0) return by_interface;
  if (wanted.soft && devices.count > 0) return devices.list[wanted.place % devices.count];
  return wanted.place < devices.count ? devices.list[wanted.place] : nullptr;
}

// Source: linux include/uapi/rdma/ib_user_ioctl_verbs.h (GID types), through libibverbs' ibv_query_gid_ex.
std::optional<std::uint32_t> wanted_type(bool ethernet, NetworkNic const& wanted) {
  if (!ethernet) return IBV_GID_TYPE_IB;
  return wanted.roce_v1 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
}

// Whether a GID is an IPv4 address (::ffff:a.b.c.d), which is routable; link-local GIDs reach one subnet only.
bool is_ipv4(ibv_gid const& gid) {
  static constexpr std::uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, kPrefix, sizeof kPrefix) == 0;
}

}  // namespace

void verbs_failed(std::string const& where, char const* call, int code) {
  throw DeviceError(fmt::format("{}: {}", where, call), code, std::strerror(code));
}

Nic::Nic(NetworkNic const& wanted, int entries, Completion completion) {
  DeviceList const devices;
  auto* const device = devices.list != nullptr ? find(devices, wanted) : nullptr;
  if (device == nullptr)
    throw MissingError(
        fmt::format("{} is not here: this node has {} RDMA {}; on any network interface `rdma link add "
                    "NAME type rxe netdev INTERFACE` makes one (module rdma_rxe)",
                    wanted.name, devices.count, devices.count == 1 ? "device" : "devices"));
  device_ = ibv_get_device_name(device);
  is_soft_ = pci_address(device->ibdev_path).empty();
  text_ = fmt::format("{} ({})", wanted.name, device_);
  context_ = Context(ibv_open_device(device));
  if (context_.get() == nullptr) verbs_failed(text_, "ibv_open_device", errno);
  if (auto const code = ibv_query_device(context(), &limits_); code != 0) verbs_failed(text_, "ibv_query_device", code);
  choose_port(wanted);
  choose_gid(wanted);
  domain_ = ProtectionDomain(ibv_alloc_pd(context()));
  if (domain() == nullptr) verbs_failed(text_, "ibv_alloc_pd", errno);
  if (completion == Completion::Events) {
    channel_ = CompletionChannel(ibv_create_comp_channel(context()));
    if (channel_.get() == nullptr) verbs_failed(text_, "ibv_create_comp_channel", errno);
    fcntl(channel_.get()->fd, F_SETFL, fcntl(channel_.get()->fd, F_GETFL) | O_NONBLOCK);
  }
  fcntl(context()->async_fd, F_SETFL, fcntl(context()->async_fd, F_GETFL) | O_NONBLOCK);
  completions_ =
      CompletionQueue(ibv_create_cq(context(), std::min(entries, limits_.max_cqe), nullptr, channel_.get(), 0));
  if (completions() == nullptr) verbs_failed(text_, "ibv_create_cq", errno);
}

void Nic::choose_port(NetworkNic const& wanted) {
  for (std::uint8_t port = 1; port <= limits_.phys_port_cnt; ++port) {
    ibv_port_attr attributes{};
    if (ibv_query_port(context(), port, &attributes) != 0 || attributes.state != IBV_PORT_ACTIVE) continue;
    port_ = port;
    address_.ethernet = attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
    address_.lid = attributes.lid;
    address_.mtu = attributes.active_mtu;
    return;
  }
  throw MissingError(fmt::format("{}: none of its {} ports is up; bring up the link of {}", text_,
                                 limits_.phys_port_cnt, wanted.function));
}

void Nic::choose_gid(NetworkNic const& wanted) {
  ibv_port_attr attributes{};
  ibv_query_port(context(), port_, &attributes);
  std::optional<ibv_gid> chosen;
  for (int i = 0; i < attributes.gid_tbl_len; ++i) {
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(context(), port_, static_cast<std::uint32_t>(i), &entry, 0) != 0) continue;
    if (entry.gid_type != wanted_type(address_.ethernet, wanted)) continue;
    if (chosen && !is_ipv4(entry.gid)) continue;
    bool const better = !chosen || !is_ipv4(*chosen);
    if (!better) continue;
    chosen = entry.gid;
    gid_index_ = static_cast<std::uint8_t>(i);
  }
  if (!chosen)
    throw MissingError(fmt::format("{}: its port has no {} address (GID); give {} an IP address", text_,
                                   wanted.roce_v1 ? "RoCE v1" : "RoCE v2", wanted.function));
  for (auto const byte : chosen->raw) address_.gid += fmt::format("{:02x}", byte);
}

std::vector<AsyncEvent> Nic::async_events() const {
  std::vector<AsyncEvent> events;
  ibv_async_event event{};
  while (ibv_get_async_event(context(), &event) == 0) {
    switch (event.event_type) {
      case IBV_EVENT_PORT_ERR:
      case IBV_EVENT_DEVICE_FATAL:
      case IBV_EVENT_CQ_ERR: events.push_back({ibv_event_type_str(event.event_type), {}}); break;
      case IBV_EVENT_QP_FATAL:
      case IBV_EVENT_QP_REQ_ERR:
      case IBV_EVENT_QP_ACCESS_ERR:
        events.push_back({ibv_event_type_str(event.event_type), event.element.qp->qp_num});
        break;
      default: break;
    }
    ibv_ack_async_event(&event);
  }
  return events;
}

void Nic::arm() {
  if (channel_.get() == nullptr) return;
  if (auto const code = ibv_req_notify_cq(completions(), 0); code != 0) verbs_failed(text_, "ibv_req_notify_cq", code);
}

void Nic::take_interrupt() {
  ibv_cq* queue = nullptr;
  void* unused = nullptr;
  if (channel_.get() != nullptr && ibv_get_cq_event(channel_.get(), &queue, &unused) == 0) ibv_ack_cq_events(queue, 1);
}

}  // namespace lanewise::hw
