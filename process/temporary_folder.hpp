#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace lanewise {

// A folder of its own under $TMPDIR (or /tmp), removed with the object.
class TemporaryFolder {
 public:
  // `purpose` begins its name. Throws MissingError when no folder can be made there, or when nothing can be written
  // into it: it is full.
  explicit TemporaryFolder(std::string_view purpose);
  TemporaryFolder(TemporaryFolder const&) = delete;
  TemporaryFolder& operator=(TemporaryFolder const&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] std::filesystem::path path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace lanewise
