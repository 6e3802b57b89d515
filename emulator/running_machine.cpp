#include "emulator/running_machine.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

namespace lanewise::emulator {
namespace {

// Signals by which a program ends through a fault of its own.
bool is_of_crash(int signal) {
  constexpr std::array kOfCrash{SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE};
  return std::find(kOfCrash.begin(), kOfCrash.end(), signal) != kOfCrash.end();
}

}  // namespace

RunningMachine::RunningMachine(VirtualMachine const& machine, std::string const& initramfs, Qemu const& qemu,
                               std::vector<Descriptor> const& networks)
    : name_(machine.name) {
  auto const archive = memory_file(initramfs);
  std::vector<std::pair<int, int>> inherited{{archive.get(), kInitramfsDescriptor}};
  std::vector<Descriptor> guest_ends;
  constexpr std::array kNumbers{std::pair{kControl, kControlDescriptor}, std::pair{kOutput, kOutputDescriptor},
                                std::pair{kErrors, kErrorDescriptor}, std::pair{kInput, kInputDescriptor},
                                std::pair{kConsole, kConsoleDescriptor}};
  int console = -1;
  for (auto const& [line, number] : kNumbers) {
    auto [ours, theirs] = connected_pair();
    inherited.emplace_back(theirs.get(), number);
    if (line == kConsole) console = theirs.get();
    guest_ends.push_back(std::move(theirs));
    lines_[line] = std::move(ours);
  }
  Descriptor const messages(dup(console));  // QEMU's own messages go where the guest's console goes
  for (std::size_t i = 0; i < networks.size(); ++i)
    inherited.emplace_back(networks[i].get(), kFirstNetworkDescriptor + static_cast<int>(i));
  std::vector<std::string> words{qemu.program.string()};
  words.insert(words.end(), machine.arguments.begin(), machine.arguments.end());
  process_.emplace(words, inherited, messages.get(), messages.get());
}

bool RunningMachine::start_command() {
  was_asked_ = true;
  return tell("run\n");
}

bool RunningMachine::tell(std::string const& line) {
  return write(lines_[kControl].get(), line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

void RunningMachine::give_input(std::string_view text) {
  given_input_ += text.size();
  input_ += text;
  go_on_giving();
}

void RunningMachine::go_on_giving() {
  auto const count = send(lines_[kInput].get(), input_.data(), input_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count > 0) input_.erase(0, static_cast<std::size_t>(count));
  if (count < 0 && errno != EAGAIN && errno != EINTR) input_.clear();  // the machine is ending
}

void RunningMachine::end_input() { tell(fmt::format("end-of-input {}\n", given_input_)); }

void RunningMachine::resize(TerminalSize size) { tell(fmt::format("size {} {}\n", size.rows, size.columns)); }

void RunningMachine::add_descriptors(std::vector<pollfd>& waiting) const {
  for (auto const& line : lines_) waiting.push_back({line.get(), POLLIN, 0});  // poll ignores a closed one, which is -1
  waiting.back() = {input_.empty() ? -1 : lines_[kInput].get(), POLLOUT, 0};
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
  if (text.empty()) return failure_at_end();
  control_text_ += text;
  std::string failure;
  for (auto at = control_text_.find('\n'); at != std::string::npos; at = control_text_.find('\n')) {
    auto const line = control_text_.substr(0, at);
    control_text_.erase(0, at + 1);
    if (auto why = handle_line(line); !why.empty()) failure = std::move(why);
  }
  if (control_text_.size() > kMaxMessage && failure.empty())
    failure = fmt::format("{}: the guest sent {} bytes without the end of a message", name_, control_text_.size());
  return failure;
}

std::string RunningMachine::failure_at_end() {
  constexpr int kGrace = 200;  // ms for the rest of the console
  pollfd waiting{lines_[kConsole].get(), POLLIN, 0};
  while (lines_[kConsole].is_open() && poll(&waiting, 1, kGrace) > 0) read_console();
  constexpr std::chrono::seconds kUntilQemuEnds{2};
  auto const status = process_->wait(kUntilQemuEnds);
  auto const signal = status && WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
  has_crashed_ = is_of_crash(signal);
  if (has_crashed_) return fmt::format("QEMU crashed ({}), and with it {}{}", strsignal(signal), name_, console_tail());
  auto const by = signal != 0 ? fmt::format(" by a signal to QEMU ({})", strsignal(signal)) : "";
  return fmt::format("the virtual machine {} ended{}{}", name_, by, console_tail());
}

std::string RunningMachine::handle_line(std::string const& line) {
  auto const message = guest_message(line);
  switch (message.kind) {
    case GuestMessage::Kind::Ready: is_ready_ = true; return "";
    case GuestMessage::Kind::Note: notes_.push_back(message.text); return "";
    case GuestMessage::Kind::Exit: exit_code_ = message.exit_code; return "";
    case GuestMessage::Kind::Failed: return fmt::format("{}: {}", name_, message.text);
    case GuestMessage::Kind::Odd: break;
  }
  return fmt::format("{}: the guest sent {} where it reports its state", name_, message.text);
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
