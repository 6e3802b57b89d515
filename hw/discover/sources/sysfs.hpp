#pragma once
// The kernel's files below /sys or another root (an emulated or captured machine, a test). Nothing in them is trusted:
// what is missing, too long or not a number counts as absent, and links are read but never followed.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::hw {

class Sysfs {
 public:
  // Files such as cpuinfo are in `proc` beside the root: /sys and /proc.
  explicit Sysfs(std::filesystem::path root) : root_(std::move(root)) {}

  [[nodiscard]] std::filesystem::path const& root() const { return root_; }
  [[nodiscard]] bool exists(std::filesystem::path const& path) const;
  // A file's text without leading and trailing blanks; absent when it cannot be read.
  [[nodiscard]] std::optional<std::string> text(std::filesystem::path const& path) const;
  // The first bytes of a file, at most `most`.
  [[nodiscard]] std::vector<std::uint8_t> bytes(std::filesystem::path const& path, std::size_t most) const;
  // A whole number, decimal or after 0x; absent when it is anything else.
  [[nodiscard]] std::optional<long long> number(std::filesystem::path const& path) const;
  // The target of a link as written; absent when it is no link.
  [[nodiscard]] std::optional<std::filesystem::path> link(std::filesystem::path const& path) const;
  // Names in a folder, sorted; empty when there is none.
  [[nodiscard]] std::vector<std::string> names(std::filesystem::path const& path) const;
  // A file of /proc.
  [[nodiscard]] std::optional<std::string> proc(std::string_view name) const;

 private:
  std::filesystem::path root_;
};

std::optional<long long> whole_number(std::string_view text);
// The last PCI address on a path: of "../../devices/pci0000:00/0000:00:03.0/virtio2/net/eth0" it is "0000:00:03.0".
std::string last_pci_address(std::filesystem::path const& path);

}  // namespace lanewise::hw
