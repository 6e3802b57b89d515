#include "core/io/own_library.hpp"

#include <dlfcn.h>

namespace lanewise {

std::filesystem::path own_library_path(char const* name) {
  Dl_info self{};
  if (dladdr(reinterpret_cast<void const*>(&own_library), &self) == 0 || self.dli_fname == nullptr) return name;
  return std::filesystem::path(self.dli_fname).parent_path() / name;
}

void* own_library(char const* name) { return dlopen(own_library_path(name).c_str(), RTLD_NOW | RTLD_GLOBAL); }

}  // namespace lanewise
