#include "emulator/guest/system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>

namespace lanewise::emulator::guest {

void fail(std::string const& what) { throw GuestError(what + ": " + std::strerror(errno)); }

File::~File() {
  if (descriptor_ >= 0) close(descriptor_);
}

File open_file(std::string const& path, int flags) { return File(check(open(path.c_str(), flags | O_CLOEXEC), path)); }

std::string read_file(std::string const& path) {
  auto const file = open_file(path, O_RDONLY);
  std::string text;
  std::array<char, 65536> chunk{};
  while (auto const count = check(read(file.get(), chunk.data(), chunk.size()), path))
    text.append(chunk.data(), static_cast<std::size_t>(count));
  return text;
}

void write_file(std::string const& path, std::string_view text, int mode) {
  unlink(path.c_str());  // an existing file may be a link to another place
  File const file(check(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode), path));
  check(fchmod(file.get(), static_cast<mode_t>(mode)), path);
  write_all(file.get(), text);
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    auto const count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    bytes.remove_prefix(static_cast<std::size_t>(check(count, "write")));
  }
}

void make_folders(std::string const& path) {
  for (auto at = path.find('/', 1);; at = path.find('/', at + 1)) {
    auto const part = path.substr(0, at);
    if (mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) fail(part);
    if (at == std::string::npos) return;
  }
}

void mount_on(std::string const& source, std::string const& where, std::string const& type, unsigned long flags,
              std::string const& options) {
  make_folders(where);
  check(mount(source.c_str(), where.c_str(), type.c_str(), flags, options.c_str()), "mount " + source + " " + where);
}

std::vector<std::string> names_in(std::string const& folder) {
  std::vector<std::string> names;
  auto* const open = opendir(folder.c_str());
  if (open == nullptr) return names;
  while (auto const* entry = readdir(open))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  closedir(open);
  return names;
}

}  // namespace lanewise::emulator::guest
