#pragma once
// What a guest's first process says on the control port, a line each: "ready", "note TEXT", "exit N", "failed TEXT". A
// program in the guest may write to the port as well, so any text may come.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lanewise::emulator {

struct GuestMessage {
  enum class Kind : std::uint8_t { Ready, Note, Exit, Failed, Odd };
  Kind kind = Kind::Odd;
  std::string text;   // of a note and a failure; of an odd line what is shown of it, quoted
  int exit_code = 0;  // 0 to 255
};

// The longest message, in bytes.
inline constexpr std::size_t kMaxMessage = 65536;

// Never throws; what is no message is Odd.
GuestMessage guest_message(std::string_view line);

}  // namespace lanewise::emulator
