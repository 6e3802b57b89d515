#include "emulator/guest_message.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace lanewise::emulator {
namespace {

std::optional<int> exit_code_of(std::string_view text) {
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > 255) return std::nullopt;
  return value;
}

// The beginning of a text that may hold anything, for a message on a terminal.
std::string shown(std::string_view text) {
  constexpr std::size_t kMaxShown = 80;
  std::string out = "'";
  for (auto const c : text.substr(0, kMaxShown)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > kMaxShown ? "...'" : "'");
}

}  // namespace

GuestMessage guest_message(std::string_view line) {
  using Kind = GuestMessage::Kind;
  auto const space = line.find(' ');
  auto const word = line.substr(0, space);
  auto const rest = space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
  if (line == "ready") return {Kind::Ready, {}, 0};
  if (word == "note") return {Kind::Note, std::string(rest), 0};
  if (word == "failed") return {Kind::Failed, std::string(rest), 0};
  if (auto const code = word == "exit" ? exit_code_of(rest) : std::nullopt) return {Kind::Exit, {}, *code};
  return {Kind::Odd, shown(line), 0};
}

}  // namespace lanewise::emulator
