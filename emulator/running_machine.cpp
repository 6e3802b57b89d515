#include "emulator/running_machine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace lanewise::emulator {

RunningMachine::RunningMachine(VirtualMachine const& machine, std::string const& initramfs, Qemu const& qemu,
                               std::vector<Descriptor> const& networks)
    : name_(machine.name) {
  auto const archive = memory_file(initramfs);
  std::vector<std::pair<int, int>> inherited{{archive.get(), kInitramfsDescriptor}};
  std::vector<Descriptor> guest_ends;
  constexpr std::array kNumbers{std::pair{kControl, kControlDescriptor}, std::pair{kOutput, kOutputDescriptor},
                                std::pair{kErrors, kErrorDescriptor}, std::pair{kConsole, kConsoleDescriptor}};
  for (auto const& [line, number] : kNumbers) {
    auto [ours, theirs] = connected_pair();
    inherited.emplace_back(theirs.get(), number);
    guest_ends.push_back(std::move(theirs));
    lines_[line] = std::move(ours);
  }
  Descriptor const messages(dup(guest_ends.back().get()));  // QEMU's own messages go where the guest's console goes
  for (std::size_t i = 0; i < networks.size(); ++i)
    inherited.emplace_back(networks[i].get(), kFirstNetworkDescriptor + static_cast<int>(i));
  std::vector<std::string> words{qemu.program.string()};
  words.insert(words.end(), machine.arguments.begin(), machine.arguments.end());
  process_.emplace(words, inherited, messages.get(), messages.get());
}

bool RunningMachine::start_command() {
  was_asked_ = true;
  constexpr std::string_view kRun = "run\n";
  return write(lines_[kControl].get(), kRun.data(), kRun.size()) == static_cast<ssize_t>(kRun.size());
}

void RunningMachine::add_descriptors(std::vector<pollfd>& waiting) const {
  for (auto const& line : lines_) waiting.push_back({line.get(), POLLIN, 0});  // poll ignores a closed one, which is -1
}

std::string RunningMachine::take(Line line) {
  std::array<char, 65536> chunk{};
  auto const count = read(lines_[line].get(), chunk.data(), chunk.size());
  if (count > 0) return {chunk.data(), static_cast<std::size_t>(count)};
  lines_[line].reset();
  return {};
}

bool RunningMachine::has_data(Line line) const {
  pollfd waiting{lines_[line].get(), POLLIN, 0};
  return lines_[line].is_open() && poll(&waiting, 1, 0) > 0;
}

void RunningMachine::read_console() {
  constexpr std::size_t kMaxKept = 32768;
  console_text_ += take(kConsole);
  if (console_text_.size() > kMaxKept) console_text_.erase(0, console_text_.size() - kMaxKept / 2);
}

std::string RunningMachine::on_control() {
  auto const text = take(kControl);
  if (text.empty()) {
    constexpr int kGrace = 200;  // ms for the rest of the console
    pollfd waiting{lines_[kConsole].get(), POLLIN, 0};
    while (lines_[kConsole].is_open() && poll(&waiting, 1, kGrace) > 0) read_console();
    return fmt::format("the virtual machine {} ended{}", name_, console_tail());
  }
  control_text_ += text;
  std::string failure;
  for (auto at = control_text_.find('\n'); at != std::string::npos; at = control_text_.find('\n')) {
    auto const line = control_text_.substr(0, at);
    control_text_.erase(0, at + 1);
    if (auto why = handle_line(line); !why.empty()) failure = std::move(why);
  }
  return failure;
}

std::string RunningMachine::handle_line(std::string const& line) {
  auto const rest = line.substr(std::min(line.size(), line.find(' ') + 1));
  if (line == "ready") is_ready_ = true;
  if (line.starts_with("note ")) notes_.push_back(rest);
  if (line.starts_with("exit ")) exit_code_ = std::stoi(rest);
  return line.starts_with("failed ") ? fmt::format("{}: {}", name_, rest) : "";
}

std::string RunningMachine::console_tail() const {
  constexpr int kLastLines = 20;
  auto const& text = console_text_;
  auto from = text.size();
  for (int i = 0; i <= kLastLines && from != 0 && from != std::string::npos; ++i) from = text.rfind('\n', from - 1);
  auto const tail = from == std::string::npos || from == 0 ? text : text.substr(from + 1);
  return tail.empty() ? "" : "; its last words:\n" + tail;
}

}  // namespace lanewise::emulator
