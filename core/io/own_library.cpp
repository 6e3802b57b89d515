#include "core/io/own_library.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace lanewise {

void* own_library(char const* name) {
  Dl_info self{};
  if (dladdr(reinterpret_cast<void const*>(&own_library), &self) == 0 || self.dli_fname == nullptr) return nullptr;
  auto const path = std::filesystem::path(self.dli_fname).parent_path() / name;
  return dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
}

}  // namespace lanewise
