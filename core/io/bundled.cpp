#include "lanewise/io/bundled.hpp"

#include <cstdlib>

#include "core/io/own_library.hpp"

namespace lanewise {

std::vector<std::filesystem::path> bundled_folders(std::string_view folder) {
  auto const installed = own_library_path(LANEWISE_INSTALLED_DATA) / folder;
  std::vector<std::filesystem::path> folders{installed.lexically_normal(),
                                             std::filesystem::path(LANEWISE_SOURCE_DATA) / folder};
  std::error_code error;
  std::erase_if(folders,
                [&](std::filesystem::path const& path) { return !std::filesystem::is_directory(path, error); });
  return folders;
}

std::vector<std::filesystem::path> topology_folders() {
  auto folders = bundled_folders("topologies");
  if (auto const* own = std::getenv("LANEWISE_TOPOLOGIES"); own != nullptr && *own != '\0')
    folders.insert(folders.begin(), own);
  return folders;
}

}  // namespace lanewise
