#pragma once
// A short hash of texts, against mistakes and not against malice.
#include <cstdint>
#include <string>
#include <string_view>

namespace lanewise {

// FNV-1a with 64 bits (Fowler, Noll and Vo) over a sequence of texts. The end of each text counts: "ab", "c" and "a",
// "bc" differ.
class Digest {
 public:
  void add(std::string_view text) {
    for (char const c : text) take(static_cast<unsigned char>(c));
    take(0xff);  // ends the text: UTF-8 has no such byte
  }
  [[nodiscard]] std::string text() const;  // 16 hexadecimal digits

 private:
  void take(unsigned char byte) {
    value_ ^= byte;
    value_ *= 0x100000001b3ULL;
  }
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

std::string digest_of(std::string_view text);

}  // namespace lanewise
