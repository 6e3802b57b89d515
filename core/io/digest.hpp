#pragma once
// A short text that changes whenever what went into it does; against mistakes, not against malice.
#include <cstdint>
#include <string>
#include <string_view>

namespace lanewise {

// FNV-1a of 64 bits over a row of texts, each with its end.
class Digest {
 public:
  void add(std::string_view text) {
    for (char const c : text) take(static_cast<unsigned char>(c));
    take(0xff);  // no byte of UTF-8
  }
  [[nodiscard]] std::string text() const;

 private:
  void take(unsigned char byte) {
    value_ ^= byte;
    value_ *= 0x100000001b3ULL;
  }
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

std::string digest_of(std::string_view text);

}  // namespace lanewise
