#pragma once
// One of the plan's NICs on this node, opened: its port, its address, and the queue on which everything completes.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/verbs/handles.hpp"
#include "hw/verbs/network_plan.hpp"

namespace lanewise::hw {

// Where a NIC's port can be reached: by LID (InfiniBand) or GID (RoCE, and InfiniBand across subnets).
struct PortAddress {
  bool ethernet = true;
  std::uint16_t lid = 0;
  std::string gid;        // 32 hexadecimal digits
  int mtu = IBV_MTU_256;  // as verbs count: 1 is 256 B, 5 is 4096 B
  friend bool operator==(PortAddress const&, PortAddress const&) = default;
};

// What a device says of itself: of one queue pair, or of all of it.
struct AsyncEvent {
  std::string text;  // "port error"
  std::optional<std::uint32_t> queue_pair;
};

class Nic {
 public:
  // Opens the device that the plan means: by PCI address, by name, by the name of its interface, and where the file
  // says none of these, the node's how manieth; Soft-RoCE devices serve again where they are too few. Throws
  // MissingError when there is none, or no port of it is up.
  Nic(NetworkNic const& wanted, int entries, Completion completion);

  [[nodiscard]] std::string const& text() const { return text_; }  // "node0/nic0 (rxe_nic0)"
  [[nodiscard]] std::string const& device() const { return device_; }
  [[nodiscard]] ibv_context* context() const { return context_.get(); }
  [[nodiscard]] ibv_pd* domain() const { return domain_.get(); }
  [[nodiscard]] ibv_cq* completions() const { return completions_.get(); }
  [[nodiscard]] ibv_device_attr const& limits() const { return limits_; }
  [[nodiscard]] PortAddress const& address() const { return address_; }
  [[nodiscard]] std::uint8_t port() const { return port_; }
  [[nodiscard]] std::uint8_t gid_index() const { return gid_index_; }

  // What came since it was last asked. Never waits.
  [[nodiscard]] std::vector<AsyncEvent> async_events() const;
  // Arms the interrupt of the next completion.
  void arm();
  // Of the interrupt; negative with Completion::Polling.
  [[nodiscard]] int descriptor() const { return channel_.get() != nullptr ? channel_.get()->fd : -1; }
  // Takes an interrupt that came.
  void take_interrupt();

 private:
  void choose_port(NetworkNic const& wanted);
  void choose_gid(NetworkNic const& wanted);

  std::string text_, device_;
  Context context_;
  ProtectionDomain domain_;
  CompletionChannel channel_;
  CompletionQueue completions_;
  ibv_device_attr limits_{};
  PortAddress address_;
  std::uint8_t port_ = 0;
  std::uint8_t gid_index_ = 0;
};

// "lib: what failed: why" as an error that names the NIC.
[[noreturn]] void verbs_failed(std::string const& where, char const* call, int code);

}  // namespace lanewise::hw
