#pragma once
#include <string>
#include <vector>

namespace lanewise::launch {

// The RDMA devices of this host. Where it has none, root may add one: Soft-RoCE on a network interface, which the
// destructor removes again.
class RdmaDevices {
 public:
  static RdmaDevices none() { return {}; }
  // Never throws for a missing device: names() is then empty and reason() says what is missing.
  static RdmaDevices find_or_add();
  RdmaDevices(RdmaDevices&& other) noexcept;
  RdmaDevices& operator=(RdmaDevices&&) = delete;
  RdmaDevices(RdmaDevices const&) = delete;
  RdmaDevices& operator=(RdmaDevices const&) = delete;
  ~RdmaDevices();
  [[nodiscard]] std::vector<std::string> const& names() const { return names_; }
  // Why there is no device; empty where there is one, and for none().
  [[nodiscard]] std::string const& reason() const { return reason_; }

 private:
  RdmaDevices() = default;
  std::vector<std::string> names_;
  std::string reason_;
  bool added_ = false;  // by this object
};

}  // namespace lanewise::launch
