#include "process/temporary_folder.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

namespace fs = std::filesystem;

// Not fs::temp_directory_path(), whose error for a folder that is not there names no way out.
fs::path folder_for_temporaries() {
  auto const* wanted = std::getenv("TMPDIR");
  return wanted != nullptr && *wanted != '\0' ? fs::path(wanted) : fs::path("/tmp");
}

[[noreturn]] void refuse(int error) {
  throw MissingError(fmt::format("no temporary files can be written to {}: {}; set TMPDIR to a folder with room",
                                 folder_for_temporaries().string(), std::strerror(error)));
}

}  // namespace

TemporaryFolder::TemporaryFolder(std::string_view purpose)
    : path_((folder_for_temporaries() / fmt::format("lanewise-{}-XXXXXX", purpose)).string()) {
  if (mkdtemp(path_.data()) == nullptr) refuse(errno);
  // A folder takes no room where files do.
  auto const trial = path() / "room";
  constexpr std::size_t kSomeRoom = 4096;
  errno = 0;
  std::ofstream file(trial);
  file << std::string(kSomeRoom, ' ');
  file.close();
  auto const error = errno;
  std::error_code ignored;
  fs::remove(trial, ignored);
  if (file.good()) return;
  fs::remove_all(path_, ignored);
  refuse(error != 0 ? error : ENOSPC);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace lanewise
