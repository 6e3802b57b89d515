// Block devices, from sysfs, and where they are mounted, from /proc/self/mountinfo.
#include "hw/discover/sources/block_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "hw/discover/sources/sources.hpp"

namespace lanewise::hw {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kSector = 512;  // the unit of a block device's size in sysfs, whatever its blocks
constexpr int kMaxDepth = 8;           // of arrays of arrays

fs::path folder_of(std::string const& name) { return fs::path("class/block") / name; }

// "nvme0", the controller, but not "nvme0n1".
bool is_nvme_controller(std::string_view name) {
  return name.starts_with("nvme") && name.size() > 4 &&
         std::all_of(name.begin() + 4, name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// A drive that several controllers reach is below its subsystem, not below one of them.
std::vector<std::string> controllers_of_subsystem(Sysfs const& sysfs, fs::path const& device) {
  std::vector<std::string> found;
  std::string before;
  for (auto const& step : device) {
    if (before == "nvme-subsystem")
      for (auto const& name : sysfs.names(fs::path("class/nvme-subsystem") / step))
        if (is_nvme_controller(name))
          if (auto const link = sysfs.link(fs::path("class/nvme") / name)) found.push_back(last_pci_address(*link));
    before = step.string();
  }
  return found;
}

void add_functions_below(Sysfs const& sysfs, std::string const& name, int depth, std::set<std::string>& found) {
  auto const link = sysfs.link(folder_of(name));
  if (!link || depth == kMaxDepth) return;
  if (auto address = last_pci_address(*link); !address.empty()) {
    found.insert(std::move(address));
    return;
  }
  for (auto& address : controllers_of_subsystem(sysfs, *link))
    if (!address.empty()) found.insert(std::move(address));
  if (auto const whole = link->parent_path().filename().string(); sysfs.exists(folder_of(name) / "partition"))
    add_functions_below(sysfs, whole, depth + 1, found);
  for (auto const& part : sysfs.names(folder_of(name) / "slaves")) add_functions_below(sysfs, part, depth + 1, found);
}

// "/data\040of\040mine": blanks are octal in mountinfo.
std::string unescaped(std::string const& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool const escape =
        text[i] == '\\' && i + 3 < text.size() &&
        std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    text.begin() + static_cast<std::ptrdiff_t>(i) + 4, [](char c) { return c >= '0' && c <= '7'; });
    if (!escape) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return plain;
}

// The first place where each device is mounted, by "259:0". Lines of "36 35 98:0 /root /mounted/at options":
// Linux Documentation/filesystems/proc.rst.
std::map<std::string, std::string> mounts(Sysfs const& sysfs) {
  std::map<std::string, std::string> places;
  std::istringstream lines(sysfs.proc("self/mountinfo").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string ignored;
    std::string device;
    std::string place;
    if (words >> ignored >> ignored >> device >> ignored >> place) places.emplace(device, unescaped(place));
  }
  return places;
}

}  // namespace

std::vector<std::string> pci_functions_below(Sysfs const& sysfs, std::string const& name) {
  std::set<std::string> found;
  add_functions_below(sysfs, name, 0, found);
  return {found.begin(), found.end()};
}

std::string block_device_name(Sysfs const& sysfs, unsigned major, unsigned minor) {
  auto const link = sysfs.link(fmt::format("dev/block/{}:{}", major, minor));
  return link ? link->filename().string() : std::string();
}

void read_block_devices(Sysfs const& sysfs, HostFacts& facts) {
  auto const mounted = mounts(sysfs);
  for (auto const& name : sysfs.names("class/block")) {
    if (sysfs.exists(folder_of(name) / "partition")) continue;
    BlockDeviceFacts device;
    device.name = name;
    device.functions = pci_functions_below(sysfs, name);
    if (device.functions.empty()) continue;  // memory, loops and what is reached over a network
    if (auto const sectors = sysfs.number(folder_of(name) / "size"); sectors && *sectors > 0)
      device.bytes = Bytes(*sectors * kSector);
    for (auto const& part : sysfs.names(folder_of(name)))
      if (part == "dev" || sysfs.exists(folder_of(name) / part / "partition")) {
        auto const numbers = part == "dev" ? folder_of(name) / "dev" : folder_of(name) / part / "dev";
        auto const place = mounted.find(sysfs.text(numbers).value_or(""));
        if (place != mounted.end()) device.mounted_at.push_back(place->second);
      }
    facts.block_devices.push_back(std::move(device));
  }
}

}  // namespace lanewise::hw
