#include "hw/hw_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/io/own_library.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {

Hardware const& hardware() {
  static auto* const library = own_library("liblanewise_hw.so");
  if (library == nullptr) throw MissingError(fmt::format("liblanewise_hw.so cannot be loaded: {}", dlerror()));
  return *own_entry_point<Hardware const*()>(library, "liblanewise_hw.so", "lanewise_hardware")();
}

}  // namespace lanewise::hw
