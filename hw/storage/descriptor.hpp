#pragma once
#include <unistd.h>

#include "core/io/handle.hpp"

namespace lanewise::hw {

struct DescriptorTraits {
  using type = int;
  static type null() { return -1; }
  static void destroy(type descriptor) noexcept { close(descriptor); }
};
using Descriptor = Handle<DescriptorTraits>;  // of a file

}  // namespace lanewise::hw
