#pragma once
#include <filesystem>
#include <string>

namespace lanewise {

// The build id that the linker wrote into this library, in hexadecimal: another build, another id. Empty: it wrote
// none.
std::string own_build_id();
// A path that begins in the folder of this library.
std::filesystem::path own_library_path(char const* path);
// Where a library of lanewise is if it was built, "liblanewise_sim.so": in the folder of this one, installed with its
// version at the end; or, if it is a module that nobody links to, installed in the folder lanewise there.
std::filesystem::path own_library_file(char const* name);
// Loads a library of lanewise from there and keeps it loaded. Returns its dlopen handle, or nullptr when it is not
// there. The full path is needed because a sanitizer's dlopen ignores the program's search path.
void* own_library(char const* name);
// An entry point of a library that own_library() has loaded from the file. Throws MissingError where it has none so
// called.
void* own_entry_point(void* library, char const* file, char const* name);
template <class Function>
Function* own_entry_point(void* library, char const* file, char const* name) {
  return reinterpret_cast<Function*>(own_entry_point(library, file, name));
}

}  // namespace lanewise
