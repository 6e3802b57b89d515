#pragma once
// A virtual machine that runs: its QEMU process, and this process's ends of its control, output and console lines.
#include <poll.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/guest_message.hpp"
#include "emulator/keyboard.hpp"
#include "emulator/qemu.hpp"
#include "emulator/virtual_machine.hpp"
#include "process/process.hpp"

namespace lanewise::emulator {

class RunningMachine {
 public:
  // Starts QEMU with an initramfs and the machine's ends of its networks.
  RunningMachine(VirtualMachine const& machine, std::string const& initramfs, Qemu const& qemu,
                 std::vector<Descriptor> const& networks);

  [[nodiscard]] std::string const& name() const { return name_; }
  [[nodiscard]] bool is_ready() const { return is_ready_; }
  // Whether it was told to run the command and has not ended it yet.
  [[nodiscard]] bool is_running() const { return was_asked_ && !exit_code_; }
  [[nodiscard]] std::optional<int> exit_code() const { return exit_code_; }  // of the command, once it has ended
  [[nodiscard]] std::vector<std::string> const& notes() const { return notes_; }

  // Tells the guest to run its command. False when it does not listen any more.
  bool start_command();

  // The lines, and how many there are: what poll(2) is to wait for.
  enum Line : std::size_t { kControl, kOutput, kErrors, kConsole, kInput, kLines };
  void add_descriptors(std::vector<pollfd>& waiting) const;

  // Gives text to the command's input, as the guest takes it. Not called again before all of it is given.
  void give_input(std::string_view text);
  [[nodiscard]] bool has_given_input() const { return input_.empty(); }
  // Goes on with that.
  void go_on_giving();
  // Says that no more input comes.
  void end_input();
  void resize(TerminalSize size);

  // These read once what a line has; empty at its end, which closes it.
  std::string take(Line line);
  // Reads the console, of which the last lines are kept.
  void read_console();
  // Reads control messages. Returns why the machine failed; empty when it did not.
  std::string on_control();
  // Whether it failed because QEMU itself crashed.
  [[nodiscard]] bool has_crashed() const { return has_crashed_; }
  // Whether the line has something to read now.
  [[nodiscard]] bool has_data(Line line) const;
  // "; its last words:" and the last lines of the console; empty when it is empty.
  [[nodiscard]] std::string console_tail() const;

 private:
  std::string failure_at_end();
  std::string handle_line(std::string const& line);
  bool tell(std::string const& line);

  std::string name_;
  Descriptor lines_[kLines];
  std::string control_text_, console_text_;
  std::string input_;              // that the guest has not taken yet
  std::uint64_t given_input_ = 0;  // bytes, with those
  std::optional<Child> process_;
  bool is_ready_ = false;
  bool was_asked_ = false;
  bool has_crashed_ = false;
  std::optional<int> exit_code_;
  std::vector<std::string> notes_;
};

}  // namespace lanewise::emulator
