#include "hw/hw_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/io/own_library.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {

Hardware const& hardware() {
  static auto* const library = own_library("liblanewise_hw.so");
  if (library == nullptr) throw MissingError(fmt::format("liblanewise_hw.so cannot be loaded: {}", dlerror()));
  auto* const entry = dlsym(library, "lanewise_hardware");
  if (entry == nullptr) throw MissingError("liblanewise_hw.so is of another version: it has no 'lanewise_hardware'");
  return *reinterpret_cast<Hardware const* (*)()>(entry)();
}

}  // namespace lanewise::hw
