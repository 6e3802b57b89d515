#pragma once
// System calls of the guest's first process, with errors that say what failed.
#include <cerrno>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::emulator::guest {

struct GuestError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// Throws "WHAT: reason of errno".
[[noreturn]] void fail(std::string const& what);
// Returns the value of a system call; throws when it is negative.
template <class Result>
Result check(Result result, std::string const& what) {
  if (result < 0) fail(what);
  return result;
}

// An open file, closed with the object.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  File(File const&) = delete;
  File& operator=(File const&) = delete;
  File& operator=(File&&) = delete;
  ~File();
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};
File open_file(std::string const& path, int flags);

std::string read_file(std::string const& path);
void write_file(std::string const& path, std::string_view text, int mode);
void write_all(int descriptor, std::string_view bytes);
void make_folders(std::string const& path);  // with all parent folders
void mount_on(std::string const& source, std::string const& where, std::string const& type, unsigned long flags,
              std::string const& options);
std::vector<std::string> names_in(
    std::string const& folder);  // without hidden ones; empty when there is no such folder

}  // namespace lanewise::emulator::guest
