#pragma once
// A guest's first file system as an archive that the kernel unpacks: cpio in the "newc" format, described in Linux's
// Documentation/driver-api/early-userspace/buffer-format.rst.
#include <string>
#include <string_view>

namespace lanewise::emulator {

class Initramfs {
 public:
  void folder(std::string_view name) { add(name, 0040755, {}); }
  void file(std::string_view name, std::string_view content, int permissions) {
    add(name, 0100000 | static_cast<unsigned>(permissions), content);
  }
  // Ends the archive and returns it; nothing can be added afterwards.
  std::string finish();

 private:
  void add(std::string_view name, unsigned mode, std::string_view content);

  std::string archive_;
  unsigned entries_ = 0;
};

}  // namespace lanewise::emulator
