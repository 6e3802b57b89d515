#include "core/io/digest.hpp"

#include <fmt/format.h>

namespace lanewise {

std::string Digest::text() const { return fmt::format("{:016x}", value_); }

std::string digest_of(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.text();
}

}  // namespace lanewise
