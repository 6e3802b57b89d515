#include "core/workload/chakra/wire_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <istream>

namespace lanewise {
namespace {

constexpr int kMaxVarintBytes = 10;  // 64 bits, seven a byte
constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{64} << 20;

// Puts bytes of a varint together, the lowest seven bits first.
class Varint {
 public:
  // Returns whether the number is complete.
  bool add(std::uint8_t byte) {
    if (count_ == kMaxVarintBytes) throw WireError("a number has more than 64 bits");
    value_ |= std::uint64_t{byte & 0x7FU} << (7 * count_++);
    return byte < 0x80;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }
  [[nodiscard]] bool has_begun() const { return count_ > 0; }

 private:
  std::uint64_t value_ = 0;
  int count_ = 0;
};

}  // namespace

std::uint64_t WireReader::varint() {
  Varint number;
  while (!left_.empty()) {
    auto const byte = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    if (number.add(byte)) return number.value();
  }
  throw WireError("it is cut off within a number");
}

std::string_view WireReader::take(std::uint64_t size) {
  if (size > left_.size()) throw WireError(fmt::format("a field of {} bytes, and {} are left", size, left_.size()));
  auto const taken = left_.substr(0, static_cast<std::size_t>(size));
  left_.remove_prefix(static_cast<std::size_t>(size));
  return taken;
}

std::optional<std::uint64_t> WireReader::next_varint() {
  if (left_.empty()) return std::nullopt;
  return varint();
}

std::optional<WireField> WireReader::next() {
  if (left_.empty()) return std::nullopt;
  auto const key = varint();
  WireField field;
  constexpr std::uint64_t kMaxNumber = (1U << 29) - 1;
  if (key >> 3 == 0 || key >> 3 > kMaxNumber) throw WireError(fmt::format("there is no field {}", key >> 3));
  field.number = static_cast<std::uint32_t>(key >> 3);
  auto const fixed = [&](std::size_t size) {
    auto const bytes = take(size);
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
    return value;
  };
  switch (key & 7) {
    case 0: field.value = varint(); break;
    case 1: field.value = fixed(8); break;
    case 2: field.bytes = take(varint()); break;
    case 5: field.value = fixed(4); break;
    default: throw WireError(fmt::format("field {} has the type {}; there is 0, 1, 2 and 5", field.number, key & 7));
  }
  field.type = static_cast<WireType>(key & 7);
  return field;
}

std::optional<std::string> next_message(std::istream& stream) {
  Varint length;
  for (;;) {
    auto const byte = stream.get();
    if (byte == std::istream::traits_type::eof()) {
      if (!length.has_begun()) return std::nullopt;
      throw WireError("it is cut off within its length");
    }
    if (length.add(static_cast<std::uint8_t>(byte))) break;
  }
  if (length.value() > kMaxMessageBytes)
    throw WireError(fmt::format("{} bytes are more than any node has; at most {}", length.value(), kMaxMessageBytes));
  // In steps, so that a wrong length in a short file takes no memory.
  constexpr std::uint64_t kStep = 1 << 16;
  std::string message;
  for (auto left = length.value(); left > 0;) {
    auto const step = static_cast<std::size_t>(std::min(left, kStep));
    auto const have = message.size();
    message.resize(have + step);
    stream.read(message.data() + have, static_cast<std::streamsize>(step));
    if (static_cast<std::size_t>(stream.gcount()) != step)
      throw WireError(fmt::format("it is cut off after {} of {} bytes",
                                  have + static_cast<std::size_t>(stream.gcount()), length.value()));
    left -= step;
  }
  return message;
}

}  // namespace lanewise
