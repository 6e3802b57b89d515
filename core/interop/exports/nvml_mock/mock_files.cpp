#include "core/interop/exports/nvml_mock/mock_files.hpp"

#include <fmt/format.h>

#include <system_error>

#include "lanewise/io/error.hpp"
#include "lanewise/io/file.hpp"

namespace lanewise {
namespace fs = std::filesystem;

void write_mock_files(fs::path const& folder, std::vector<MockFile> const& files) {
  auto const check = [](std::error_code const& error, fs::path const& path) {
    if (error) throw InputError(fmt::format("{}: cannot be written: {}", path.string(), error.message()));
  };
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error))
    throw InputError(fmt::format("{}: is there already and not empty; name a new folder", folder.string()));
  for (auto const& file : files) {
    auto const path = folder / file.path;
    fs::create_directories(file.kind == MockFile::Kind::Folder ? path : path.parent_path(), error);
    check(error, path);
    if (file.kind == MockFile::Kind::Link) {
      fs::create_symlink(file.content, path, error);
      check(error, path);
    } else if (file.kind == MockFile::Kind::Text) {
      write_file(path.string(), file.content);
    }
  }
}

}  // namespace lanewise
