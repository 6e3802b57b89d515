#pragma once
#include <string>
#include <vector>

namespace lanewise::launch {

// The RDMA devices of this host. Where it has none, root may add one: Soft-RoCE on a network interface, taken away with
// the object.
class SoftLink {
 public:
  static SoftLink none() { return {}; }
  static SoftLink find_or_add();
  SoftLink(SoftLink&& other) noexcept;
  SoftLink& operator=(SoftLink&&) = delete;
  SoftLink(SoftLink const&) = delete;
  SoftLink& operator=(SoftLink const&) = delete;
  ~SoftLink();
  [[nodiscard]] std::vector<std::string> const& devices() const { return devices_; }
  // Why there is none; empty where there is one, and where none was looked for.
  [[nodiscard]] std::string const& why_not() const { return why_not_; }

 private:
  SoftLink() = default;
  std::vector<std::string> devices_;
  std::string why_not_;
  bool added_ = false;
};

}  // namespace lanewise::launch
