#pragma once
// Limits which files are read and written, for a program that others send requests to.
#include <filesystem>
#include <vector>

namespace lanewise {

// While it lives, read_file() and write_file(), and what is built on them, refuse files outside these folders. A folder
// counts with all below it, and a symbolic link as what it leads to. There is one at a time, for all threads.
class FileFence {
 public:
  explicit FileFence(std::vector<std::filesystem::path> const& folders);
  ~FileFence();
  FileFence(FileFence const&) = delete;
  FileFence& operator=(FileFence const&) = delete;
};

// Throws InputError for a file outside the fence, whether it is there or not. Without a fence it does nothing.
void check_fence(std::filesystem::path const& file);

}  // namespace lanewise
