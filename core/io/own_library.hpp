#pragma once

namespace lanewise {

// Loads a library of ours, which lies beside this one, and keeps it; nullptr where it is not there. By its full path: a
// sanitizer's own dlopen does not look where the program was linked to look.
void* own_library(char const* name);

}  // namespace lanewise
