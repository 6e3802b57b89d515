#pragma once
// Reads the wire format of Protocol Buffers within limits: fields of a message one by one, and messages of a stream.
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "lanewise/io/error.hpp"

namespace lanewise {

// A message is cut off or contradicts the format. Callers add which one it is.
class WireError : public InputError {
  using InputError::InputError;
};

enum class WireType : std::uint8_t { Varint = 0, Fixed64 = 1, Delimited = 2, Fixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::Varint;
  std::uint64_t value = 0;  // of all types but Bytes
  std::string_view bytes;   // into the message
};

// The fields of one message, which must outlive the reader.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : left_(message) {}
  // The next field; nullopt at the end. Throws WireError where the message is cut off, or has a type that proto3 lacks
  // (groups).
  std::optional<WireField> next();
  // A number as packed lists have them; nullopt at the end.
  std::optional<std::uint64_t> next_varint();

 private:
  std::uint64_t varint();
  std::string_view take(std::uint64_t size);

  std::string_view left_;
};

// The next message of a stream, each with its length in front; nullopt at the end of the stream. Throws WireError where
// it is cut off, or longer than 64 MiB.
std::optional<std::string> next_message(std::istream& stream);

}  // namespace lanewise
