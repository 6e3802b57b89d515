#include "hw/discover/sources/sysfs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "core/interop/machines/roles.hpp"

namespace lanewise::hw {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxText = std::size_t{4} << 20U;  // cpuinfo of a large machine has about 1 MiB
constexpr std::size_t kMaxNames = 65'536;

class File {
 public:
  // Without waiting: a pipe in a captured tree must not hang the program.
  explicit File(fs::path const& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (descriptor_ >= 0 && (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode))) {
      close(descriptor_);
      descriptor_ = -1;
    }
  }
  File(File const&) = delete;
  File& operator=(File const&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  // False when reading fails.
  template <class Buffer>
  bool read_into(Buffer& buffer, std::size_t most) const {
    constexpr std::size_t kChunk = 4096;
    std::size_t filled = 0;
    for (ssize_t got = 1; got > 0 && filled < most; filled += static_cast<std::size_t>(got)) {
      buffer.resize(std::min(most, filled + kChunk));
      got = read(descriptor_, buffer.data() + filled, buffer.size() - filled);
      if (got < 0) {
        buffer.resize(filled);
        return filled > 0;
      }
    }
    buffer.resize(filled);
    return true;
  }

 private:
  int descriptor_;
};

std::optional<std::string> text_of(fs::path const& path) {
  File const file(path);
  std::string text;
  if (!file.is_open() || !file.read_into(text, kMaxText)) return std::nullopt;
  constexpr std::string_view kBlank{" \t\r\n\0", 5};
  text.erase(text.find_last_not_of(kBlank) + 1);
  text.erase(0, std::min(text.size(), text.find_first_not_of(kBlank)));
  return text;
}

}  // namespace

bool Sysfs::exists(fs::path const& path) const {
  std::error_code error;
  return fs::exists(root_ / path, error);
}

std::optional<std::string> Sysfs::text(fs::path const& path) const { return text_of(root_ / path); }

std::vector<std::uint8_t> Sysfs::bytes(fs::path const& path, std::size_t most) const {
  File const file(root_ / path);
  std::vector<std::uint8_t> bytes;
  if (file.is_open()) file.read_into(bytes, most);
  return bytes;
}

std::optional<long long> Sysfs::number(fs::path const& path) const {
  auto const said = text(path);
  return said ? whole_number(*said) : std::nullopt;
}

std::optional<fs::path> Sysfs::link(fs::path const& path) const {
  std::error_code error;
  auto target = fs::read_symlink(root_ / path, error);
  return error ? std::nullopt : std::optional(std::move(target));
}

std::vector<std::string> Sysfs::names(fs::path const& path) const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(root_ / path, error), end; !error && entry != end && names.size() < kMaxNames;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> Sysfs::proc(std::string_view name) const {
  auto const folder = root_.has_filename() ? root_.parent_path() : root_.parent_path().parent_path();
  return text_of(folder / "proc" / name);
}

std::optional<long long> whole_number(std::string_view text) {
  bool const hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  long long value = 0;
  auto const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

std::string last_pci_address(fs::path const& path) {
  std::string last;
  for (auto const& step : path)
    if (is_pci_address(step.string())) last = step.string();
  return last;
}

}  // namespace lanewise::hw
