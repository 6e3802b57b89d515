#include "emulator/keyboard.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace lanewise::emulator {

bool on_terminal() { return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1; }

TerminalSize terminal_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

Keyboard::Keyboard() {
  termios now{};
  if (!on_terminal() || tcgetattr(STDIN_FILENO, &now) != 0) return;
  before_ = now;
  cfmakeraw(&now);
  tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

Keyboard::~Keyboard() {
  if (before_) tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
}

std::string Keyboard::take() {
  constexpr char kEnd = 0x1d;  // Ctrl-]
  std::array<char, 4096> chunk{};
  auto const count = read(STDIN_FILENO, chunk.data(), chunk.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (count <= 0) {
    is_open_ = false;
    return {};
  }
  std::string text(chunk.data(), static_cast<std::size_t>(count));
  if (auto const at = text.find(kEnd); is_terminal() && at != std::string::npos) {
    asked_to_end_ = true;
    text.erase(at);
  }
  return text;
}

std::optional<TerminalSize> Keyboard::new_size() {
  if (!is_terminal()) return std::nullopt;
  auto const now = terminal_size();
  if (size_ == now) return std::nullopt;
  size_ = now;
  return now;
}

}  // namespace lanewise::emulator
