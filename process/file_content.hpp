#pragma once
// Files of any size, as they are: kernels, modules, keys.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace lanewise {

// Empty where it cannot be read.
inline std::string content_of(std::filesystem::path const& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace lanewise
