#pragma once
// This process's standard input, as it goes to a command in a guest.
#include <termios.h>

#include <optional>
#include <string>

#include "process/process.hpp"

namespace lanewise::emulator {

struct TerminalSize {
  int rows = 24, columns = 80;
  friend bool operator==(TerminalSize const&, TerminalSize const&) = default;
};

// Whether standard input and output are a terminal.
bool on_terminal();

// For its lifetime a terminal hands over every key as it is (raw mode): Ctrl-C ends what runs in the guest, not this
// process. Ctrl-] asks for the end of the guests, as in telnet and virsh. A pipe or a file is just read.
class Keyboard {
 public:
  Keyboard();
  Keyboard(Keyboard const&) = delete;
  Keyboard& operator=(Keyboard const&) = delete;
  ~Keyboard();

  // -1 when the input has ended.
  [[nodiscard]] int descriptor() const { return is_open_ ? 0 : -1; }
  [[nodiscard]] bool is_terminal() const { return before_.has_value(); }
  // Reads once what there is; empty at the end, which closes it.
  std::string take();
  // Whether Ctrl-] was among what was read.
  [[nodiscard]] bool asked_to_end() const { return asked_to_end_; }
  // The terminal's size, if it is another than at the last call.
  std::optional<TerminalSize> new_size();

 private:
  std::optional<termios> before_;
  std::optional<TerminalSize> size_;
  bool is_open_ = true;
  bool asked_to_end_ = false;
};

// The size of the terminal that standard output is; 24 by 80 when it is none.
TerminalSize terminal_size();

}  // namespace lanewise::emulator
