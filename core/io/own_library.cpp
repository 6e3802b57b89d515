#include "core/io/own_library.hpp"

#include <dlfcn.h>

#include <string>

namespace lanewise {
namespace fs = std::filesystem;

fs::path own_library_path(char const* path) {
  Dl_info self{};
  if (dladdr(reinterpret_cast<void const*>(&own_library), &self) == 0 || self.dli_fname == nullptr) return path;
  // Where /lib is a link to /usr/lib the loader names the former, and nothing is found beside that.
  auto const folder = fs::path(self.dli_fname).parent_path();
  std::error_code error;
  auto const real = fs::canonical(folder, error);
  return (error ? folder : real) / path;
}

fs::path own_library_file(char const* name) {
  auto const plain = own_library_path(name);
  std::error_code error;
  for (auto const& file : {fs::path(plain.string() + "." + LANEWISE_SOVERSION),
                           plain.parent_path() / LANEWISE_MODULE_FOLDER / plain.filename()})
    if (fs::exists(file, error)) return file;
  return plain;
}

void* own_library(char const* name) { return dlopen(own_library_file(name).c_str(), RTLD_NOW | RTLD_GLOBAL); }

}  // namespace lanewise
