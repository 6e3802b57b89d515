#pragma once
#include <filesystem>

namespace lanewise {

// The executable file of this process.
inline std::filesystem::path this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

}  // namespace lanewise
