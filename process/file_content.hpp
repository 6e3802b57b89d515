#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace lanewise {

// The bytes of a file of any size; empty when it cannot be read.
inline std::string content_of(std::filesystem::path const& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace lanewise
