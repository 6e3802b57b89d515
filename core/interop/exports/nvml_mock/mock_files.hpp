#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace lanewise {

struct MockFile {
  enum class Kind : std::uint8_t { Text, Link, Folder };
  std::string path;     // below the folder of the export
  std::string content;  // of a link: its target
  Kind kind = Kind::Text;
};

// Writes the files below a folder, which must not exist or be empty. Throws InputError otherwise, and when one cannot
// be written.
void write_mock_files(std::filesystem::path const& folder, std::vector<MockFile> const& files);

}  // namespace lanewise
