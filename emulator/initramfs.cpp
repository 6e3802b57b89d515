#include "emulator/initramfs.hpp"

#include <fmt/format.h>

namespace lanewise::emulator {
namespace {

void pad(std::string& archive) {
  constexpr std::size_t kAlignment = 4;
  archive.resize((archive.size() + kAlignment - 1) / kAlignment * kAlignment);
}

}  // namespace

void Initramfs::add(std::string_view name, unsigned mode, std::string_view content) {
  constexpr unsigned kLinks = 1;
  // magic, inode, mode, uid, gid, links, time, size, device (2), special device (2), length of the name, checksum
  archive_ += fmt::format("070701{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}",
                          ++entries_, mode, 0, 0, kLinks, 0, content.size(), 0, 0, 0, 0, name.size() + 1, 0);
  archive_ += name;
  archive_ += '\0';
  pad(archive_);
  archive_ += content;
  pad(archive_);
}

std::string Initramfs::finish() {
  add("TRAILER!!!", 0, {});
  return std::move(archive_);
}

}  // namespace lanewise::emulator
