#pragma once
#include <filesystem>

namespace lanewise {

// Where a library of lanewise is if it was built: in the folder of this one.
std::filesystem::path own_library_path(char const* name);
// Loads a library of lanewise from the folder of this one and keeps it loaded. Returns its dlopen handle, or nullptr
// when it is not there. The full path is needed because a sanitizer's dlopen ignores the program's search path.
void* own_library(char const* name);

}  // namespace lanewise
