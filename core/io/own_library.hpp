#pragma once

namespace lanewise {

// Loads a library of lanewise from the folder of this one and keeps it loaded. Returns its dlopen handle, or nullptr
// when it is not there. The full path is needed because a sanitizer's dlopen ignores the program's search path.
void* own_library(char const* name);

}  // namespace lanewise
