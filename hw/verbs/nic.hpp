#pragma once
// A NIC of the plan, opened on this node: its port, its address, and its completion queue.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/network/network_plan.hpp"
#include "hw/verbs/handles.hpp"

namespace lanewise::hw {

// The address of a NIC's port: its LID (InfiniBand) or its GID (RoCE, and InfiniBand across subnets).
struct PortAddress {
  bool ethernet = true;
  std::uint16_t lid = 0;
  std::string gid;        // 32 hexadecimal digits
  int mtu = IBV_MTU_256;  // an ibv_mtu: 1 is 256 B, 5 is 4096 B
  friend bool operator==(PortAddress const&, PortAddress const&) = default;
};

// A failure that a device reports by itself, of one queue pair or of the whole device.
struct AsyncEvent {
  std::string text;                         // "port error"
  std::optional<std::uint32_t> queue_pair;  // its number; absent: the whole device
};

class Nic {
 public:
  // Opens the device of a NIC of the plan: by PCI address, else by device name, else by the name of its network
  // interface, else by its number in the node. Soft-RoCE devices serve several NICs where there are too few. `entries`:
  // the wanted size of the completion queue. Throws MissingError when there is no such device, or none of its ports is
  // up.
  Nic(NetworkNic const& wanted, int entries, Completion completion);

  [[nodiscard]] std::string const& text() const { return text_; }  // "node0/nic0 (rxe_nic0)"
  [[nodiscard]] std::string const& device() const { return device_; }
  [[nodiscard]] bool is_soft() const { return is_soft_; }  // Soft-RoCE, not hardware
  [[nodiscard]] ibv_context* context() const { return context_.get(); }
  [[nodiscard]] ibv_pd* domain() const { return domain_.get(); }
  [[nodiscard]] ibv_cq* completions() const { return completions_.get(); }
  [[nodiscard]] ibv_device_attr const& limits() const { return limits_; }
  [[nodiscard]] PortAddress const& address() const { return address_; }
  [[nodiscard]] std::uint8_t port() const { return port_; }
  [[nodiscard]] std::uint8_t gid_index() const { return gid_index_; }

  // The failures reported since the last call. Never waits.
  [[nodiscard]] std::vector<AsyncEvent> async_events() const;
  // Requests an interrupt for the next completion.
  void arm();
  // The descriptor to poll(2) for the interrupt; negative with Completion::Polling.
  [[nodiscard]] int descriptor() const { return channel_.get() != nullptr ? channel_.get()->fd : -1; }
  // Consumes an interrupt.
  void take_interrupt();

 private:
  void choose_port(NetworkNic const& wanted);
  void choose_gid(NetworkNic const& wanted);

  std::string text_, device_;
  bool is_soft_ = false;
  Context context_;
  ProtectionDomain domain_;
  CompletionChannel channel_;
  CompletionQueue completions_;
  ibv_device_attr limits_{};
  PortAddress address_;
  std::uint8_t port_ = 0;
  std::uint8_t gid_index_ = 0;
};

// Throws DeviceError "WHERE: CALL: reason of code".
[[noreturn]] void verbs_failed(std::string const& where, char const* call, int code);

}  // namespace lanewise::hw
